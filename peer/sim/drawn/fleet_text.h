#pragma once

#include <string>
#include <string_view>

#include "peer/fleet/flat_keys.h"

namespace gv {

/// Returns the fleet file with these keys, one line per top-level key: the inverse of flat_keys.
/// Keys of one section need not be adjacent.
std::string fleet_text(const FlatKeys& keys);

/// Returns the value; empty if the key is missing.
std::string value_of(const FlatKeys& keys, std::string_view path);
void set_key(FlatKeys& keys, std::string_view path, std::string value);
/// Erases the key and all keys below it.
void erase_keys(FlatKeys& keys, std::string_view path);

}  // namespace gv
