#pragma once

#include <memory>
#include <optional>
#include <string>

#include "peer/record/run_folder.h"
#include "peer/record/watch/orders.h"
#include "peer/show/live/observed_run.h"

namespace gv {

struct LiveOptions {
  std::string serve{};    ///< "127.0.0.1:8080"; empty: the run's own socket only
  bool no_token = false;  ///< whoever is on this machine may look
};

/// Shows a run to others while it goes on: on FOLDER/live.sock, and over HTTP where that is asked
/// for. What it cannot open costs the run nothing but a note.
class LiveService {
 public:
  /// Throws std::invalid_argument for a wrong address, std::runtime_error for one that is taken and
  /// where a run goes on in this folder already.
  LiveService(RunTitle title, const RunFolder& folder, const LiveOptions& options);
  ~LiveService();
  LiveService(const LiveService&) = delete;
  LiveService& operator=(const LiveService&) = delete;

  Feed& feed();
  Orders& orders();
  /// The page's address with its token; empty: there is no page.
  const std::string& url() const;
  /// Says why there is no live.sock; empty: there is.
  const std::string& note() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gv
