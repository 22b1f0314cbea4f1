#include "peer/cli/lobby/lobby_page.h"

#include <exception>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "peer/fleet/net_address.h"
#include "peer/launch/agent/facts/interfaces.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/http/http_server.h"
#include "peer/show/live/live_client.h"
#include "peer/show/live/live_page.h"
#include "peer/show/page/svg.h"
#include "peer/wire/socket/named_socket.h"

namespace gv::cli {
namespace {

constexpr int refresh_seconds = 2;

std::string devices_of(const MachineOffer& offer) {
  std::string text;
  for (const DeviceFacts& each : offer.devices) text += (text.empty() ? "" : ", ") + each.name;
  return text.empty() ? "none" : text;
}

std::string row(const LobbyMember& member) {
  const MachineOffer& offer = member.offer;
  return fmt::format(
      "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0f} GFLOP/s</td><td>{}</td>"
      "<td>{}</td></tr>\n",
      member.here ? "" : " class=\"away\"", svg::escape(offer.name),
      member.here ? "here" : fmt::format("away for {}", seconds_text(member.seconds_away)),
      offer.cores, bytes_text(static_cast<double>(offer.memory_bytes)), offer.gflops * offer.cores,
      svg::escape(devices_of(offer)), offer.data.empty() ? "-" : "a part of its own");
}

std::string machines_of(const std::vector<LobbyMember>& members) {
  std::string rows;
  for (const LobbyMember& member : members) rows += row(member);
  return "<table><tr><th>machine</th><th>state</th><th>cores</th><th>memory</th><th>speed</th>"
         "<th>devices</th><th>data</th></tr>\n" +
         rows + "</table>\n";
}

/// Returns the parts of the live page for the run of this folder, or a sentence.
std::string run_of(const std::string& folder) {
  if (folder.empty()) return "<p>No run has started yet.</p>\n";
  try {
    const std::optional<RunView> view = view_of_run(folder);
    const std::string curves = fmt::format("<div class=\"cards curves\">{}</div>\n",
                                           live_figures(read_metrics(folder + "/metrics.jsonl")));
    if (!view)
      return fmt::format("<p>The run in {} has ended.</p>\n{}", svg::escape(folder), curves);
    return live_head(*view) + curves + live_peers(*view);
  } catch (const std::exception&) {  // it begins or ends just now
    return "<p>The run is starting.</p>\n";
  }
}

}  // namespace

class LobbyPage::Impl {
 public:
  Impl(const Lobby& lobby, unsigned number, std::vector<LobbyMember> own)
      : lobby_(lobby),
        number_(number),
        own_(std::move(own)),
        token_(http::new_token()),
        server_(listeners(), [this](const http::Request& request, const http::Access&) {
          return answer(request);
        }) {}

  void show_run(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    folder_ = folder;
  }

  std::string url() const {
    const std::vector<InterfaceAddress> own = interface_addresses();
    const std::string host = own.empty() ? loopback_host() : own.front().address;
    return fmt::format("http://{}/?token={}", host_port_text(host, port_), token_);
  }

 private:
  /// A page at a name or address that is not this machine's is refused (DNS rebinding).
  std::vector<http::Listener> listeners() {
    std::vector<http::Listener> all;
    for (Descriptor& socket : listening_sockets(std::string(any_address), 0)) {
      port_ = address_of_socket(socket.get()).port();
      http::Access access{.token = token_, .cookie = fmt::format("grapevine_{}", port_)};
      for (const InterfaceAddress& each : interface_addresses())
        access.hosts.push_back(host_port_text(each.address, port_));
      for (const char* name : {"localhost", "127.0.0.1", "::1"})
        access.hosts.push_back(host_port_text(name, port_));
      all.push_back({std::move(socket), std::move(access)});
    }
    return all;
  }

  http::Answer answer(const http::Request& request) {
    if (request.path != "/") return http::refusal(404, "there is no such page");
    std::string folder;
    {
      const std::lock_guard lock(mutex_);
      folder = folder_;
    }
    std::vector<LobbyMember> members = lobby_.members();
    members.insert(members.begin(), own_.begin(), own_.end());
    return {
        .type = "text/html; charset=utf-8",
        .body = fmt::format(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta "
            "name=\"viewport\" content=\"width=device-width\"/>\n<meta http-equiv=\"refresh\" "
            "content=\"{}; url=/\"/>\n<title>Lobby {:02}</title>\n<style>{}</style></head><body>\n"
            "<h1>Lobby {:02}</h1>\n{}<h2>Run</h2>\n{}</body></html>\n",
            refresh_seconds, number_, live_style(), number_, machines_of(members), run_of(folder)),
        .headers = {fmt::format("Content-Security-Policy: default-src 'none'; style-src {}",
                                csp_hash(live_style())),
                    "Cache-Control: no-store"}};
  }

  const Lobby& lobby_;
  unsigned number_;
  std::vector<LobbyMember> own_;
  std::string token_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;  ///< for folder_, which the server's thread reads
  std::string folder_;
  http::Server server_;  ///< last: its thread uses the others
};

LobbyPage::LobbyPage(const Lobby& lobby, unsigned number, std::vector<LobbyMember> own)
    : impl_(std::make_unique<Impl>(lobby, number, std::move(own))) {}
LobbyPage::~LobbyPage() = default;

void LobbyPage::show_run(const std::string& folder) {
  impl_->show_run(folder);
}

std::string LobbyPage::url() const {
  return impl_->url();
}

std::string progress_text(const std::string& folder) {
  try {
    const std::vector<MetricsRow> rows = read_metrics(folder + "/metrics.jsonl");
    const MetricsRow& row = rows.at(rows.size() - 1);
    return fmt::format("round {}: {} {:.4g}{}", row.round, row.frames ? "return" : "loss",
                       row.frames ? -row.loss : row.loss,
                       row.accuracy ? fmt::format(", accuracy {:.4f}", *row.accuracy) : "");
  } catch (const std::exception&) {
    return "no evaluation yet";
  }
}

std::string machine_text(const LobbyMember& member) {
  const MachineOffer& offer = member.offer;
  return fmt::format("{:<16} {:>3} cores {:>9} {:>6.0f} GFLOP/s  devices: {}{}", offer.name,
                     offer.cores, bytes_text(static_cast<double>(offer.memory_bytes)),
                     offer.gflops * offer.cores, devices_of(offer), member.here ? "" : "  (away)");
}

}  // namespace gv::cli
