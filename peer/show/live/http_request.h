#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gv::http {

inline constexpr std::size_t most_head_bytes = 8192;

/// The head of a request (RFC 9112); a request with a body is refused, so there is nothing else.
struct Request {
  std::string method;
  std::string path;                                          ///< begins with `/`
  std::string query;                                         ///< behind the `?`, as it came
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case

  /// Null when there is none; of several the first.
  const std::string* header(std::string_view name) const;
};

struct Parsed {
  int status = 200;      ///< else what to answer: 400, 413, 501 or 505
  std::string_view why;  ///< of another status
  Request request;       ///< of status 200
};

/// `head`: up to and with the empty line. Strict where RFC 9112 lets a server choose: lines end
/// with CR LF, no folded header, no space before a colon, exactly one Host, no body.
Parsed parse_request(std::string_view head);

/// Reads `a=1&b=2`; values are taken as they are written, since ours need no escapes.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key);
/// Reads a Cookie header (RFC 6265, section 4.2).
std::optional<std::string_view> cookie_value(std::string_view cookies, std::string_view name);

}  // namespace gv::http
