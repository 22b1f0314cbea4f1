#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/wire/socket/descriptor.h"

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

/// The rules by which one listening socket admits clients.
struct Access {
  /// True for a Unix socket that only its owner can open: every request is admitted, also orders.
  bool control = false;
  /// The allowed values of Host, in lower case. The check stops pages whose name is made to resolve
  /// to this address (DNS rebinding), which a browser would treat as ours.
  std::vector<std::string> hosts{};
  std::string token{};   ///< 32 hex digits; if empty, no token is needed
  std::string cookie{};  ///< its name; differs by port, since all ports share cookies
};

struct Admission {
  int status = 200;  ///< 200 or 403
  std::string_view why{};
  bool keep_cookie = false;  ///< the address had the token: the answer sets the cookie
};

/// Admits a client that gives the token as `?token=` in the address, as a cookie, or as
/// `Authorization: Bearer`.
Admission admit(const Access& access, const Request& request);

/// `Set-Cookie: ...` for an admission with `keep_cookie`: same-site, hidden from scripts.
std::string cookie_header(const Access& access);

/// 128 random bits as 32 hex digits. Throws std::runtime_error if the system has none.
std::string new_token();

/// A reply to a client. A stream follows the body, until its source ends or the client disconnects.
struct Answer {
  /// Returns the text that is new since the last call, possibly empty; none ends the stream. Called
  /// only after all earlier text was sent, so a slow reader skips states.
  using Source = std::function<std::optional<std::string>()>;

  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::string> headers{};  ///< "Name: value"
  Source stream{};
};

/// An answer of one sentence, with its status.
Answer refusal(int status, std::string_view why);

/// The status line, the headers and the body.
std::string text_of(const Answer& answer);

/// A listening socket (AF_INET, AF_INET6 or AF_UNIX) and its rules of admission.
struct Listener {
  Descriptor socket;
  Access access;
};

inline constexpr int most_connections = 32;  ///< per listener

/// Answers requests, one per connection, on a thread and an Asio loop of its own. A client can cost
/// at most one connection: it has 5 seconds to send a head of at most 8 KiB, and 5 seconds to read
/// an answer, which is then dropped. The thread takes no signal.
class Server {
 public:
  /// Called on the server's thread for each admitted request.
  using Handler = std::function<Answer(const Request&, const Access&)>;

  Server(std::vector<Listener> listeners, Handler handler);
  /// Ends the streams after a last text from their sources; waits at most 0.3 seconds for them.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gv::http
