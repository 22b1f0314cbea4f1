#pragma once

#include <string_view>

namespace gv {

/// Tells whether an address, as it is written, is that of its user: nobody else comes there.
inline bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

}  // namespace gv
