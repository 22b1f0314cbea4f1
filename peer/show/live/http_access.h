#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peer/show/live/http_request.h"

namespace gv::http {

/// The rules for who may come in through one listening socket.
struct Door {
  /// A Unix socket that only its owner can open: nobody is asked, and orders are taken.
  bool control = false;
  /// The names of which Host must be one, in lower case: against pages whose name is made to lead
  /// to us (DNS rebinding), which a browser would take for ours.
  std::vector<std::string> hosts{};
  std::string token{};   ///< 32 hex digits; empty: nobody needs one
  std::string cookie{};  ///< its name; of each port another one, since ports share their cookies
};

struct Admission {
  int status = 200;  ///< else 403
  std::string_view why{};
  bool keep_cookie = false;  ///< came with the token in its address: the answer sets the cookie
};

/// The token is asked for as `?token=` of an address, as a cookie, or as `Authorization: Bearer`.
Admission admit(const Door& door, const Request& request);

/// `Set-Cookie: ...` of an admission that keeps it: sent to nobody else's pages, read by no script.
std::string cookie_header(const Door& door);

/// 128 random bits as 32 hex digits. Throws std::runtime_error where the system has none.
std::string new_token();

}  // namespace gv::http
