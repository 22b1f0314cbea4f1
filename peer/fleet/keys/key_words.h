#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns the words that a key takes, in the order of its row: "auto, local or ssh"
/// as three. Readers and options take them from here, so that a word stands in the row alone.
std::vector<std::string> key_words(std::string_view key);

/// A row of a key of the fleet file that no table of methods, models or kinds brings: what the
/// reference says of it (peer/fleet/reference/key_table.h), and which words readers take. A row
/// that has only its key holds the place of one of word_keys(), and "{range}" that of the range of
/// the key.
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

// Bounds of more than one key.
inline constexpr std::uint32_t most_peers = 1'000'000;
inline constexpr std::uint32_t most_local_steps = 1'000'000;

/// The least and the greatest value that a key of the fleet file takes.
struct KeyRange {
  std::string_view key;
  double least, most;
};

/// Returns the range of a key, which has a row of its own. Readers and the reference of
/// keys take it from there, so that the two numbers stand in the row alone.
const KeyRange& key_range(std::string_view key);

}  // namespace gv
