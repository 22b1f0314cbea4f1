#pragma once

#include <string>
#include <string_view>

#include "peer/fleet/flat_keys.h"

namespace gv {

/// The fleet file that says these keys, a line for each that stands at the top: the inverse of
/// flat_keys. Keys of one section need not stand together.
std::string fleet_text(const FlatKeys& keys);

/// "" where the key is not there.
std::string value_of(const FlatKeys& keys, std::string_view path);
void set_key(FlatKeys& keys, std::string_view path, std::string value);
/// The key itself, and all that stand below it.
void erase_keys(FlatKeys& keys, std::string_view path);

}  // namespace gv
