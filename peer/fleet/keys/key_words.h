#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns the words that a key takes, in the order of its row: three for "auto, local or ssh".
/// Readers and options use these, so that only the row lists the words.
std::vector<std::string> key_words(std::string_view key);

/// A key of the fleet file that is not in a table of methods, models or kinds: its text in the
/// reference (peer/fleet/reference/key_table.h) and the words that readers accept. A row with only
/// a key stands for one of word_keys(); "{range}" stands for the key's range.
struct PlainKey {
  std::string_view key, takes{}, usual{}, meaning{}, example{};
};
std::span<const PlainKey> word_keys();          ///< keys that take one of several words
std::span<const PlainKey> run_keys();           ///< keys of the whole fleet: peers, stop, ...
std::span<const PlainKey> common_data_keys();   ///< keys that several kinds of data share
std::span<const PlainKey> divided_data_keys();  ///< keys for the distribution of data to the peers
std::span<const PlainKey> agent_keys();         ///< keys of agent
std::span<const PlainKey> train_keys();  ///< keys of train, model, algorithm, topology, network

/// Returns the row of word_keys() with this key.
const PlainKey& word_key(std::string_view key);

/// Returns a row's text with the launchers of batch_systems.h in place of "{launchers}" and "{batch
/// systems}".
std::string with_launchers(std::string_view text);

// Bounds that several keys share.
inline constexpr std::uint32_t most_peers = 1'000'000;
inline constexpr std::uint32_t most_local_steps = 1'000'000;

/// Least and greatest value of a key of the fleet file.
struct KeyRange {
  std::string_view key;
  double least, most;
};

/// Returns the range of a key, which must have a row. Readers and the reference use it, so that
/// only the row holds the two numbers.
const KeyRange& key_range(std::string_view key);

}  // namespace gv
