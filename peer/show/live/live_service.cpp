#include "peer/show/live/live_service.h"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "peer/show/live/http/http_server.h"
#include "peer/show/live/live_address.h"
#include "peer/show/live/live_page.h"

namespace gv {
namespace {

/// The answers of a run: `/` (its page), `/events` (the page's parts as server-sent events when
/// they change; `/events?json`: whole states), `/state.json`, `/metrics`, `/healthz`; and through
/// access with `control` also `POST /stop`, `POST /checkpoint` and `POST /record?rounds=N`. A text
/// asked for twice is made once per state.
class LiveRoutes {
 public:
  LiveRoutes(ObservedRun run, Orders& orders);
  http::Answer answer(const http::Request& request, const http::Access& access);

 private:
  /// A text made from a state or a curve, kept until there is a newer one.
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

using Clock = ObservedRun::Clock;
constexpr auto between_heads = std::chrono::milliseconds(300);
constexpr auto between_peers = std::chrono::seconds(1);
constexpr const char* methods =
    "GET; and POST for /stop, /checkpoint and /record?rounds=N on the run's own socket";

/// Formats an event (HTML Living Standard, section 9.2): each line of data has its own `data:`.
std::string sse(std::string_view name, std::string_view data) {
  std::string text = fmt::format("event: {}\n", name);
  while (!data.empty()) {
    const std::string_view line = data.substr(0, data.find('\n'));
    text += fmt::format("data: {}\n", line);
    data.remove_prefix(std::min(data.size(), line.size() + 1));
  }
  return text + "\n";
}

/// Returns the number of rounds in the query; 0 if it is not a valid number of rounds.
std::uint64_t rounds_in(std::string_view query) {
  constexpr std::uint64_t most = 100'000;
  const auto rounds =
      as_number<std::uint64_t>(http::query_value(query, "rounds").value_or("")).value_or(0);
  return rounds <= most ? rounds : 0;
}

bool has_ended(const RunView& view) {
  return view.phase == FleetState::Phase::ended;
}

/// The state up to which a client of /events has seen the run.
struct LiveRoutes::Follower {
  std::shared_ptr<const void> view{}, curve{};
  Clock::time_point head_due{}, peers_due{};
  bool ended = false;
};

LiveRoutes::LiveRoutes(ObservedRun run, Orders& orders) : run_(std::move(run)), orders_(orders) {}

std::shared_ptr<const RunView> LiveRoutes::view() {
  return run_.view(Clock::now());
}

const std::string& LiveRoutes::part(Part& part,
                                    std::shared_ptr<const void> of,
                                    std::string (*make)(const RunView&)) {
  if (part.of == of) return part.text;
  part.text = make(*static_cast<const RunView*>(of.get()));
  part.of = std::move(of);
  return part.text;
}

const std::string& LiveRoutes::state_json() {
  return part(json_, view(), [](const RunView& view) { return json_of(view).dump(); });
}

http::Answer LiveRoutes::answer(const http::Request& request, const http::Access& access) {
  const std::string& path = request.path;
  if (access.control && request.method == "POST") return order(request);
  if (request.method != "GET") return http::refusal(405, methods);
  if (path == "/") return page();
  if (path == "/events") return events(request.query == "json");
  if (path == "/state.json") return {.type = "application/json", .body = state_json() + "\n"};
  if (path == "/metrics") return metrics(request);
  if (path == "/healthz") return {.body = "ok\n"};
  return http::refusal(404, "there are /, /events, /state.json, /metrics and /healthz");
}

http::Answer LiveRoutes::page() {
  http::Answer answer{.type = "text/html; charset=utf-8",
                      .body = live_page(*view(), *run_.curve())};
  answer.headers.push_back(live_page_policy());
  return answer;
}

http::Answer LiveRoutes::metrics(const http::Request& request) {
  const std::string* const accept = request.header("accept");
  const MetricsFormat format = metrics_format(accept == nullptr ? "" : *accept);
  return {.type = std::string(content_type(format)), .body = metrics_text(*view(), format)};
}

http::Answer LiveRoutes::order(const http::Request& request) {
  std::uint64_t number = 0;
  if (request.path == "/stop") {
    number = orders_.give(Order::Kind::stop);
  } else if (request.path == "/checkpoint") {
    number = orders_.give(Order::Kind::checkpoint);
  } else if (request.path == "/record") {
    const std::uint64_t rounds = rounds_in(request.query);
    if (rounds == 0) return http::refusal(400, "rounds=N must be from 1 to 100000");
    number = orders_.give(Order::Kind::record, rounds);
  } else {
    return http::refusal(405, methods);
  }
  if (number == 0) return http::refusal(503, "too many orders are waiting");
  return {.status = 202, .type = "application/json", .body = Json{{"order", number}}.dump() + "\n"};
}

http::Answer LiveRoutes::events(bool json) {
  http::Answer answer{.type = "text/event-stream", .body = "retry: 2000\n\n"};
  answer.stream = [this, json, follower = std::make_shared<Follower>()] {
    return json ? next_state(*follower) : next_events(*follower);
  };
  return answer;
}

std::optional<std::string> LiveRoutes::next_state(Follower& follower) {
  if (follower.ended) return std::nullopt;
  const auto now = view();
  if (follower.view == now) return "";
  follower.view = now;
  follower.ended = has_ended(*now);
  return sse("state", state_json()) + (follower.ended ? sse("end", "ended") : "");
}

std::optional<std::string> LiveRoutes::next_events(Follower& follower) {
  if (follower.ended) return std::nullopt;
  const Clock::time_point time = Clock::now();
  const auto now = view();
  if (follower.view == now) return "";
  follower.ended = has_ended(*now);
  std::string text;
  if (time >= follower.head_due || follower.ended) {
    text += sse("head", part(head_, now, live_head));
    follower.head_due = time + between_heads;
    follower.view = now;
  }
  if (time >= follower.peers_due || follower.ended) {
    text += sse("peers", part(peers_, now, live_peers));
    follower.peers_due = time + between_peers;
  }
  if (const auto curve = run_.curve(); curve != follower.curve) {
    if (figures_.of != curve) figures_ = {curve, live_figures(*curve)};
    text += sse("figures", figures_.text);
    follower.curve = curve;
  }
  return text + (follower.ended ? sse("end", "ended") : "");
}

/// Reads the curve of a resumed run; if the file is damaged, the page lacks only this beginning.
std::vector<MetricsRow> past_of(const RunFolder& folder) {
  const std::string path = folder.file("metrics.jsonl");
  if (!std::filesystem::exists(path)) return {};
  try {
    return read_metrics(path);
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace

class LiveService::Impl {
 public:
  Impl(RunTitle title, const RunFolder& folder, const LiveOptions& options)
      : feed(past_of(folder)), routes_(ObservedRun(std::move(title), feed), orders) {
    std::vector<http::Listener> listeners;
    if (!options.serve.empty()) {
      LiveAddress address = parse_live_address(options.serve);
      const std::string token = options.no_token ? "" : http::new_token();
      listeners = listen_at(address, token);
      url = fmt::format("http://{}/{}", address.text(), token.empty() ? "" : "?token=" + token);
    }
    if (connect_live(folder.path()).open())
      throw std::runtime_error(
          folder.path() + ": a run is already running in this folder (grapevine top shows it)");
    try {
      listeners.push_back({listen_live(folder.path()), {.control = true}});
      file_.emplace(folder.path());
    } catch (const std::runtime_error& e) {  // a file system without sockets
      note = fmt::format("grapevine top cannot see this run: {}", e.what());
    }
    server_.emplace(std::move(listeners),
                    [this](const http::Request& request, const http::Access& access) {
                      return routes_.answer(request, access);
                    });
  }

  Feed feed;
  Orders orders;
  std::string url, note;

 private:
  LiveRoutes routes_;
  std::optional<LiveSocketFile> file_;
  std::optional<http::Server> server_;
};

LiveService::LiveService(RunTitle title, const RunFolder& folder, const LiveOptions& options)
    : impl_(std::make_unique<Impl>(std::move(title), folder, options)) {}

LiveService::~LiveService() = default;

Feed& LiveService::feed() {
  return impl_->feed;
}
Orders& LiveService::orders() {
  return impl_->orders;
}
const std::string& LiveService::url() const {
  return impl_->url;
}
const std::string& LiveService::note() const {
  return impl_->note;
}

}  // namespace gv
