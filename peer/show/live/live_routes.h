#pragma once

#include <memory>
#include <string>

#include "peer/record/watch/orders.h"
#include "peer/show/live/http_server.h"
#include "peer/show/live/observed_run.h"

namespace gv {

/// The answers of a run: `/` (its page), `/events` (the page's parts as server-sent events when
/// they change; `/events?json`: whole states), `/state.json`, `/metrics`, `/healthz`; and through a
/// door for control `POST /stop`, `POST /checkpoint` and `POST /record?rounds=N`. What is asked for
/// twice between two states is made once.
class LiveRoutes {
 public:
  LiveRoutes(ObservedRun run, Orders& orders);
  http::Answer answer(const http::Request& request, const http::Door& door);

 private:
  /// A text of a state, or of a curve, until there is a newer one.
  struct Part {
    std::shared_ptr<const void> of{};
    std::string text{};
  };
  struct Follower;
  std::shared_ptr<const RunView> view();
  const std::string& state_json();
  const std::string& part(Part& part,
                          std::shared_ptr<const void> of,
                          std::string (*make)(const RunView&));
  std::optional<std::string> next_events(Follower& follower);
  std::optional<std::string> next_state(Follower& follower);
  http::Answer page();
  http::Answer metrics(const http::Request& request);
  http::Answer events(bool json);
  http::Answer order(const http::Request& request);

  ObservedRun run_;
  Orders& orders_;
  Part json_, head_, peers_, figures_;
};

}  // namespace gv
