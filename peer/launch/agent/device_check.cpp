#include "peer/launch/agent/device_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {
namespace {

/// "cuda:0 and cuda:1", or why there is none.
std::string devices_text(const HostDevices& host) {
  if (host.devices->empty())
    return host.no_device.empty() ? "none" : "none: " + printable(host.no_device, 200);
  std::string text;
  for (std::size_t k = 0; k < host.devices->size(); ++k)
    text += fmt::format("{}cuda:{}",
                        k == 0                          ? ""
                        : k + 1 == host.devices->size() ? " and "
                                                        : ", ",
                        (*host.devices)[k].number);
  return text;
}

/// `cuda` is the first one; `auto` takes what there is.
bool has(const HostDevices& host, const std::string& word) {
  if (!word.starts_with("cuda")) return true;
  const std::string asked = word == "cuda" ? "cuda:0" : word;
  return std::ranges::any_of(*host.devices, [&](const DeviceFacts& device) {
    return asked == fmt::format("cuda:{}", device.number);
  });
}

bool on_cpu(const HostDevices& host, const PeerSpec& peer) {
  if (peer.device == "auto") return !host.devices || host.devices->empty();
  return peer.device == "cpu";
}

/// One peer alone, or several that were given threads: a fleet of many peers with one thread each
/// on a small machine is slow, and as its user wants it.
std::string threads_finding(const HostDevices& host,
                            const std::vector<PeerId>& ids,
                            const std::vector<PeerSpec>& peers) {
  unsigned threads = 0;
  unsigned on = 0;
  int most = 1;
  for (const PeerId id : ids) {
    if (!on_cpu(host, peers[id])) continue;
    threads += static_cast<unsigned>(peers[id].threads);
    most = std::max(most, peers[id].threads);
    ++on;
  }
  if (most == 1 || threads <= host.cores) return "";
  return fmt::format(
      "host {}: {} compute with {} threads, and it has {} core{}, on which threads then wait for "
      "each other\nhelp:  write `threads: {}` for its peers",
      host.name,
      on == 1 ? "one peer is to" : fmt::format("{} peers are to", on),
      threads,
      host.cores,
      host.cores == 1 ? "" : "s",
      std::max(1U, host.cores / on));
}

}  // namespace

std::vector<std::string> device_findings(const HostDevices& host,
                                         const std::vector<PeerId>& ids,
                                         const std::vector<PeerSpec>& peers) {
  std::vector<std::string> findings;
  for (const PeerId id : ids) {
    const std::string& word = peers[id].device;
    if (!host.devices || has(host, word)) continue;
    findings.push_back(
        fmt::format("host {}: peer {} is to train on `{}`; CUDA devices there: {}\nhelp:  write a "
                    "device that is there, `cpu`, or `auto`; `grapevine doctor` on that host says "
                    "more",
                    host.name,
                    id,
                    word,
                    devices_text(host)));
  }
  if (std::string threads = threads_finding(host, ids, peers); !threads.empty())
    findings.push_back(std::move(threads));
  return findings;
}

}  // namespace gv
