#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/show/live/http_request.h"
#include "peer/wire/lend/descriptor.h"

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

/// A reply to a client. A stream goes on behind the body until its source ends or the client goes.
struct Answer {
  /// Returns what is new since the last call; "": nothing; none: the stream ends. Called only when
  /// everything before has been sent, so that a slow reader misses what came meanwhile.
  using Source = std::function<std::optional<std::string>()>;

  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::string> headers{};  ///< "Name: value"
  Source stream{};
};

/// One sentence, with its status.
Answer refusal(int status, std::string_view why);

/// The status line, the headers and the body.
std::string text_of(const Answer& answer);

/// A listening socket (AF_INET, AF_INET6 or AF_UNIX) and who may come in.
struct Listener {
  Descriptor socket;
  Door door;
};

inline constexpr int most_connections = 32;  ///< of each listener

/// Answers requests on a thread and an Asio loop of its own, one a connection. Whatever a client
/// does or leaves undone, it costs at most a connection: its head has 8 KiB and 5 seconds, an
/// answer that it does not read is dropped after 5 seconds. The thread takes no signal.
class Server {
 public:
  /// Called on the server's thread for each request that was let in.
  using Handler = std::function<Answer(const Request&, const Door&)>;

  Server(std::vector<Listener> listeners, Handler handler);
  /// Ends the streams, which still get what their sources give at the end; waits a third of a
  /// second for them at the most.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gv::http
