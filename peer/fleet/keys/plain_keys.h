#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gv {

/// A row of a key of the fleet file that no table of methods, models or kinds brings: what the
/// reference says of it (peer/fleet/reference/key_table.h), and which words readers take. A row
/// that has only its key holds the place of one of word_keys(), and "{range}" that of the range of
/// the key (key_ranges.h).
struct PlainKey {
  std::string_view key, takes{}, usual{}, meaning{}, example{};
};
std::span<const PlainKey> word_keys();          ///< that take one of some words
std::span<const PlainKey> run_keys();           ///< of the fleet as a whole: peers, stop, ...
std::span<const PlainKey> common_data_keys();   ///< of several kinds of data alike
std::span<const PlainKey> divided_data_keys();  ///< of how data come to the peers
std::span<const PlainKey> agent_keys();         ///< of agent
std::span<const PlainKey> train_keys();         ///< of train, model, algorithm, topology, network

/// Returns the row of word_keys() that has this key.
const PlainKey& word_key(std::string_view key);

/// Returns the text of a row with the launchers, a table of their own (batch_systems.h), in the
/// place of "{launchers}" and "{batch systems}".
std::string with_launchers(std::string_view text);

}  // namespace gv
