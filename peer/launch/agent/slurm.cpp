#include "peer/launch/agent/slurm.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/fleet/flat_keys.h"
#include "peer/fleet/peer_group.h"
#include "peer/launch/child.h"

namespace gv {
namespace {

bool is_node_name(const std::string& name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, plain);
}

/// Returns whether batches follow the peers' speeds, so that a group has none of its own.
bool shares_batches(const FlatKeys& keys) {
  return std::ranges::any_of(keys, [](const auto& entry) {
    return (entry.first == "train.batch" || entry.first == "train.batch.kind") &&
           entry.second == "auto";
  });
}

bool alike(const PeerSpec& a, const PeerSpec& b) {
  return a.device == b.device && a.threads == b.threads && a.batch == b.batch &&
         a.precision == b.precision && a.speed == b.speed;
}

/// Returns the number of the node that each of the trainers stands on, in their order.
std::vector<std::size_t> places(const Fleet& fleet, std::size_t nodes) {
  std::vector<std::string> hosts;
  std::vector<std::size_t> at;
  for (PeerId i = 0; i < fleet.trainers(); ++i) {
    const auto known = std::ranges::find(hosts, fleet.peers[i].host);
    at.push_back(static_cast<std::size_t>(known - hosts.begin()));
    if (known == hosts.end()) hosts.push_back(fleet.peers[i].host);
  }
  if (hosts.size() == 1 && hosts[0] == "localhost") {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = i * nodes / at.size();
    return at;
  }
  if (hosts.size() <= nodes) return at;
  throw std::runtime_error(
      fmt::format("Slurm gives {} nodes, and the file wants {} hosts\nhelp:  ask for more with "
                  "--nodes, or take `peers: {{ per_host: 2 }}` for as many as there are",
                  nodes,
                  hosts.size()));
}

}  // namespace

std::optional<SlurmAllocation> slurm_job(const std::function<const char*(const char*)>& variable) {
  const char* const id = variable("SLURM_JOB_ID");
  const char* const nodes = variable("SLURM_JOB_NODELIST");
  const char* const task = variable("SLURM_STEP_ID");
  if (id == nullptr || nodes == nullptr || task != nullptr) return {};
  const char* const count = variable("SLURM_JOB_NUM_NODES");
  return SlurmAllocation{
      .id = id, .nodes = nodes, .one_node = count != nullptr && std::string_view(count) == "1"};
}

std::optional<SlurmAllocation> slurm_job() {
  return slurm_job([](const char* name) -> const char* { return std::getenv(name); });
}

std::vector<std::string> slurm_nodes(const SlurmAllocation& job) {
  Child scontrol({"scontrol", "show", "hostnames", job.nodes});
  std::vector<std::string> nodes;
  std::string said;
  hear_out(
      scontrol,
      [&](const std::string& line) { nodes.push_back(line); },
      [&](const std::string& line) { said += "\n  " + printable(line, 200); });
  if (scontrol.status() != 0 || nodes.empty() || !std::ranges::all_of(nodes, is_node_name))
    throw std::runtime_error(fmt::format(
        "scontrol does not tell which nodes `{}` means:{}", printable(job.nodes, 100), said));
  return nodes;
}

std::vector<std::string> slurm_sets(const Fleet& fleet,
                                    const std::string& file,
                                    const std::vector<std::string>& sets,
                                    const std::vector<std::string>& nodes) {
  std::vector<std::string> hosts;
  for (const std::string& node : nodes) hosts.push_back(node + ": {}");
  const std::string host_set = fmt::format("hosts={{{}}}", fmt::join(hosts, ", "));
  const FlatKeys keys = fleet_keys(file, sets);
  if (std::ranges::count(keys, "peers.per_host", &FlatKeys::value_type::first) > 0)
    return {host_set};
  const std::vector<std::size_t> at = places(fleet, nodes.size());
  const bool batch = !shares_batches(keys);
  std::vector<std::string> groups;
  for (PeerId i = 0; i < fleet.trainers();) {
    PeerId end = i + 1;
    while (end < fleet.trainers() && at[end] == at[i] && alike(fleet.peers[end], fleet.peers[i]))
      ++end;
    PeerSpec there = fleet.peers[i];
    there.host = nodes[at[i]];
    groups.push_back(peer_group_text(there, end - i, batch));
    i = end;
  }
  return {host_set, fmt::format("peers=[{}]", fmt::join(groups, ", "))};
}

/// The end of one node's agent is not that of the others (--wait, --kill-on-bad-exit), and the
/// agent may use all that the job has there.
std::vector<std::string> srun_argv(const std::string& node,
                                   const std::string& program,
                                   const AgentWords& words) {
  std::vector<std::string> argv{"srun",
                                "--nodes=1",
                                "--ntasks=1",
                                "--nodelist=" + node,
                                "--overlap",
                                "--wait=0",
                                "--kill-on-bad-exit=0",
                                "--cpu-bind=none",
                                "--unbuffered",
                                "--quiet"};
  const std::vector<std::string> agent = agent_argv(program, words);
  argv.insert(argv.end(), agent.begin(), agent.end());
  return argv;
}

}  // namespace gv
