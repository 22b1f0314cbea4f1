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

/// Asks the run of this folder, on its socket. None: no run goes on there. Throws
/// std::runtime_error when it does not answer within some seconds, or with what is not an answer.
std::optional<LiveReply> ask_run(const std::string& folder,
                                 const std::string& method,
                                 const std::string& target);

/// Its /state.json; none as above.
std::optional<RunView> view_of_run(const std::string& folder);

/// Does the same for a run that serves at an address of this machine; `token` is that of its page,
/// "" where it asks for none. None: nobody listens there.
std::optional<RunView> view_at(const LiveAddress& address, const std::string& token);

/// Gives an order (`/stop`, `/checkpoint`, `/record?rounds=N`); its number, none as above.
std::optional<std::uint64_t> order_run(const std::string& folder, const std::string& target);

/// Gives an order that concerns rounds to come, and waits for which ones the launcher has chosen.
/// Throws std::runtime_error where the run does not go on, or refuses.
OrderAnswer order_rounds(const std::string& folder,
                         const std::string& target,
                         std::optional<OrderAnswer> RunView::*kind);

}  // namespace gv
