#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "peer/show/live/http_access.h"
#include "peer/show/live/http_answer.h"
#include "peer/show/live/http_request.h"
#include "peer/wire/lend/descriptor.h"

namespace gv::http {

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
