#pragma once

#include <optional>
#include <string>

#include "peer/show/live/live_address.h"
#include "peer/show/live/observed_run.h"

namespace gv {

struct LiveReply {
  int status = 0;
  std::string body;
};

/// Sends a request to the socket of this folder's run. Returns none if no run is running there.
/// Throws std::runtime_error if it does not answer within 5 seconds, or the answer is malformed.
std::optional<LiveReply> ask_run(const std::string& folder,
                                 const std::string& method,
                                 const std::string& target);

/// Returns the run's /state.json; none as above.
std::optional<RunView> view_of_run(const std::string& folder);

/// Returns the state of a run that serves at an address of this machine, or none if no run listens
/// there. `token` is the token of its page, "" if it needs none.
std::optional<RunView> view_at(const LiveAddress& address, const std::string& token);

/// Gives an order (`/stop`, `/checkpoint`, `/record?rounds=N`). Returns its number; none as above.
std::optional<std::uint64_t> order_run(const std::string& folder, const std::string& target);

/// Gives an order about future rounds, and waits until the launcher has chosen the rounds. Throws
/// std::runtime_error if the run has ended or refuses.
OrderAnswer order_rounds(const std::string& folder,
                         const std::string& target,
                         std::optional<OrderAnswer> RunView::*kind);

}  // namespace gv
