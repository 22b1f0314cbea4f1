#pragma once

#include <string_view>

namespace gv {

/// Between which numbers the value of a key of the fleet file may lie, both ends included.
struct KeyRange {
  std::string_view key;
  double least, most;
};

/// Returns the range of a key, whose row stands in key_ranges.cpp. Readers and the reference of
/// keys take it from there, so that the two numbers stand in the row alone.
const KeyRange& key_range(std::string_view key);

}  // namespace gv
