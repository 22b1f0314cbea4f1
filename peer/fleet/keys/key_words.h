#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Accepted values of a key, in words; "{range}" stands for the least and the greatest value.
struct Takes {
  std::string_view text;
  double least, most;

  constexpr Takes(const char* text, double least = 0, double most = 0)
      : text(text), least(least), most(most) {}
};

/// A key of the fleet file that is not in a table of methods, models or kinds. Readers take the
/// range and the words that they accept from its row, and the reference its text
/// (peer/fleet/reference/key_table.h).
struct PlainKey {
  std::string_view key;
  Takes takes;
  std::string_view usual, meaning, example;
};
std::span<const PlainKey> run_keys();           ///< keys of the whole fleet: peers, stop, ...
std::span<const PlainKey> common_data_keys();   ///< keys that several kinds of data share
std::span<const PlainKey> divided_data_keys();  ///< keys for the distribution of data to the peers
/// Keys of agent; the reference adds `data` with an environment to each example.
std::span<const PlainKey> agent_keys();
std::span<const PlainKey> train_keys();  ///< keys of train, model, algorithm, topology, network

/// Returns the row of a key, which must have one.
const PlainKey& plain_key(std::string_view key);
/// Returns the range of a key, whose row must have one.
const Takes& key_range(std::string_view key);
/// Returns the words that a key takes, in the order of its row: three for "auto, local or ssh".
/// Readers and options use these, so that only the row lists the words.
std::vector<std::string> key_words(std::string_view key);

/// Returns a row's text with the launchers of batch_systems.h in place of "{launchers}" and "{batch
/// systems}".
std::string with_launchers(std::string_view text);

// Bounds that several keys share.
inline constexpr std::uint32_t most_peers = 1'000'000;
inline constexpr std::uint32_t most_local_steps = 1'000'000;

}  // namespace gv
