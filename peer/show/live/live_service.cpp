#include "peer/show/live/live_service.h"

#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "peer/show/live/live_address.h"
#include "peer/show/live/live_routes.h"
#include "peer/show/live/live_socket.h"

namespace gv {
namespace {

/// Reads the curve of a resumed run; a damaged file costs the page its beginning and no more.
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
                    [this](const http::Request& request, const http::Door& door) {
                      return routes_.answer(request, door);
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
