#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns the words that a key takes, in the order of its row (plain_keys.h): "auto, local or ssh"
/// as three. Readers and options take them from here, so that a word stands in the row alone.
std::vector<std::string> key_words(std::string_view key);

}  // namespace gv
