#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gv::http {

inline constexpr std::size_t most_head_bytes = 8192;

/// The head of a request (RFC 9112). Requests with a body are refused.
struct Request {
  std::string method;
  std::string path;                                          ///< begins with `/`
  std::string query;                                         ///< after the `?`, not decoded
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case

  /// Returns the first header of this name, or null.
  const std::string* header(std::string_view name) const;
};

struct Parsed {
  int status = 200;      ///< 200, or the status of the refusal: 400, 413, 501 or 505
  std::string_view why;  ///< reason of the refusal
  Request request;       ///< set if the status is 200
};

/// Parses a request's head with its empty line. Strict if RFC 9112 lets a server choose: lines end
/// with CR LF, no folded header, no space before a colon, exactly one Host, no body.
Parsed parse_request(std::string_view head);

/// Finds the value of `key` in `a=1&b=2`, without decoding escapes: no value of ours needs them.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key);
/// Finds the value of `name` in a Cookie header (RFC 6265, section 4.2).
std::optional<std::string_view> cookie_value(std::string_view cookies, std::string_view name);

}  // namespace gv::http
