#include "peer/cli/run/start_checks.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "gossip/seam/plan.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/process/process.h"
#include "peer/record/report/screen.h"
#include "peer/study/sweep/trial_job.h"

namespace gv::cli {
namespace {

bool is_on_cpu_here(const PeerSpec& peer) {
  return peer.host == "localhost" && peer.device == "cpu";
}

}  // namespace

/// Counts an agent for each host if hosts are other machines, since it carries its peers' streams.
std::uint64_t files_of_run(const Assembly& fleet) {
  const Fleet& file = fleet.fleet;
  if (is_lan(file)) {
    std::set<std::string> hosts;
    for (const PeerSpec& peer : file.peers) hosts.insert(peer.host);
    return files_besides + files_per_child * hosts.size() + file.size();
  }
  std::uint64_t most = files_besides + files_per_child * file.size();
  for (PeerId i = 0; i < file.size(); ++i) most = std::max(most, files_of_peer(fleet, i));
  return most;
}

std::uint64_t files_of_peer(const Assembly& fleet, PeerId id) {
  return files_besides + files_per_neighbor * links_of(fleet.plan(id)).size();
}

double least_bytes(const Assembly& fleet, std::uint64_t peers) {
  const double models = fleet.models_held(static_cast<double>(peers));
  return 2.0 * sizeof(float) * models * static_cast<double>(fleet.dimension);
}

void check_memory(double least,
                  std::optional<std::uint64_t> free,
                  std::optional<std::uint64_t> swap) {
  if (!free) return;
  const double there = static_cast<double>(*free) + static_cast<double>(swap.value_or(0));
  if (least <= there) return;
  throw std::runtime_error(
      fmt::format("x and gradient of the peers on this machine take {}, and {} are free, swap "
                  "included\nhelp:  a smaller model, or fewer peers here: `grapevine plan` shows "
                  "what they take",
                  bytes_text(least), bytes_text(there)));
}

void check_run_fits(const Assembly& fleet) {
  need_open_files(files_of_run(fleet));
  const auto here = std::ranges::count_if(fleet.fleet.peers, is_on_cpu_here);
  check_memory(least_bytes(fleet, static_cast<std::uint64_t>(here)), free_memory(), free_swap());
}

void check_peer_fits(const Assembly& fleet, PeerId id) {
  need_open_files(files_of_peer(fleet, id));
  if (fleet.fleet.peers.at(id).device == "cpu")
    check_memory(least_bytes(fleet, 1), free_memory(), free_swap());
}

}  // namespace gv::cli
