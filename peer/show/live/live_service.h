#pragma once

#include <memory>
#include <optional>
#include <string>

#include "peer/record/run_folder.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/show/live/observed_run.h"

namespace gv {

struct LiveOptions {
  std::string serve{};    ///< "127.0.0.1:8080"; if empty, only the run's own socket
  bool no_token = false;  ///< every user of this machine may look
};

/// Shows a run to others while it is running: on FOLDER/live.sock, and over HTTP if requested. If
/// the socket cannot be opened, the run continues and `note` has the reason.
class LiveService {
 public:
  /// Throws std::invalid_argument for a wrong address, std::runtime_error for one that is taken or
  /// if another run is running in this folder.
  LiveService(RunTitle title, const RunFolder& folder, const LiveOptions& options);
  ~LiveService();
  LiveService(const LiveService&) = delete;
  LiveService& operator=(const LiveService&) = delete;

  Feed& feed();
  Orders& orders();
  /// The page's address with its token; empty if there is no page.
  const std::string& url() const;
  /// Reason why there is no live.sock; empty if there is one.
  const std::string& note() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gv
