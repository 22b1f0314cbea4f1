#pragma once

#include <string_view>

namespace gv {

/// Whether an address, as it is written, is that of whoever uses it: nobody else comes there.
inline bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

}  // namespace gv
