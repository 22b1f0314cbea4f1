#pragma once

#include <cstdint>
#include <string_view>

namespace gv {

// Bounds of more than one key.
inline constexpr std::uint32_t most_peers = 1'000'000;
inline constexpr std::uint32_t most_local_steps = 1'000'000;

/// The least and the greatest value that a key of the fleet file takes.
struct KeyRange {
  std::string_view key;
  double least, most;
};

/// Returns the range of a key, whose row stands in key_ranges.cpp. Readers and the reference of
/// keys take it from there, so that the two numbers stand in the row alone.
const KeyRange& key_range(std::string_view key);

}  // namespace gv
