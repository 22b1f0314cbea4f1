#include "peer/launch/agent/transport/batch_nodes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/process/process.h"

namespace gv {
namespace {

bool is_node_name(const std::string& name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, plain);
}

/// Returns whether batches follow the peers' speeds, so that a group does not set its own.
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

/// Returns the number of each trainer's node, in order.
std::vector<std::size_t> places(const BatchSystem& system, const Fleet& fleet, std::size_t nodes) {
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
      fmt::format("{} gives {} nodes, and the file wants {} hosts\nhelp:  ask for more with "
                  "--nodes, or take `peers: {{ per_host: 2 }}` for as many as there are",
                  system.title, nodes, hosts.size()));
}

/// Returns the words of a row's command, with `what` in place of "{}".
std::vector<std::string> filled(std::string_view command, const std::string& what) {
  std::istringstream words{std::string(command)};
  std::vector<std::string> all;
  for (std::string word; words >> word;) {
    if (const std::size_t at = word.find("{}"); at != std::string::npos) word.replace(at, 2, what);
    all.push_back(std::move(word));
  }
  return all;
}

constexpr std::uint32_t most_tasks = 1'000'000;
constexpr std::uint32_t ports_of_job = 100;

/// Takes a number off the front.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

template <class Number>
bool read_number(const char* value, Number& number) {
  if (value == nullptr) return false;
  std::string_view text(value);
  const std::optional<Number> read = take_number<Number>(text);
  number = read.value_or(0);
  return read && text.empty();
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// First port of a job, below Linux's ephemeral ports (32768 and up).
std::uint16_t first_port(std::uint64_t job) {
  constexpr std::uint64_t lowest = 20'000, jobs = 100;
  return static_cast<std::uint16_t>(lowest + job % jobs * ports_of_job);
}

}  // namespace

std::optional<BatchJob> batch_job(const BatchSystem& system,
                                  const std::function<const char*(const char*)>& variable) {
  const auto of = [&](std::string_view name) { return variable(std::string(name).c_str()); };
  const char* const id = of(system.job);
  const char* const nodes = of(system.nodes);
  if (id == nullptr || nodes == nullptr || of(system.started) != nullptr) return {};
  const char* const count = of(system.count);
  return BatchJob{.system = &system,
                  .id = id,
                  .nodes = nodes,
                  .one_node = count != nullptr && std::string_view(count) == "1"};
}

std::optional<BatchJob> own_batch_job(const BatchSystem* asked) {
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  if (asked != nullptr) return batch_job(*asked, variable);
  for (const BatchSystem& system : batch_systems())
    if (std::optional<BatchJob> job = batch_job(system, variable)) return job;
  return {};
}

std::vector<std::string> batch_nodes(const BatchSystem& system, const std::string& nodes) {
  const std::vector<std::string> command = filled(system.list, nodes);
  Child list(command);
  std::vector<std::string> names;
  std::string said;
  hear_out(
      list, [&](const std::string& line) { names.push_back(line); },
      [&](const std::string& line) { said += "\n  " + printable(line, 200); });
  if (list.status() != 0 || names.empty() || !std::ranges::all_of(names, is_node_name))
    throw std::runtime_error(fmt::format("{} does not list the nodes of `{}`:{}", command.front(),
                                         printable(nodes, 100), said));
  return names;
}

std::vector<std::string> node_sets(const BatchSystem& system,
                                   const Fleet& fleet,
                                   const std::string& file,
                                   const std::vector<std::string>& sets,
                                   const std::vector<std::string>& nodes) {
  std::vector<std::string> hosts;
  for (const std::string& node : nodes) hosts.push_back(node + ": {}");
  const std::string host_set = fmt::format("hosts={{{}}}", fmt::join(hosts, ", "));
  const FlatKeys keys = fleet_keys(file, sets);
  if (std::ranges::count(keys, "peers.per_host", &FlatKeys::value_type::first) > 0)
    return {host_set};
  const std::vector<std::size_t> at = places(system, fleet, nodes.size());
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

std::vector<std::string> on_node(const BatchSystem& system,
                                 const std::string& node,
                                 const std::vector<std::string>& command) {
  std::vector<std::string> argv = filled(system.step, node);
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

std::optional<SlurmStep> slurm_step(const std::function<const char*(const char*)>& variable) {
  SlurmStep step;
  const char* const nodes = variable("SLURM_STEP_NODELIST");
  const char* const tasks = variable("SLURM_STEP_TASKS_PER_NODE");
  const bool all = nodes != nullptr && tasks != nullptr &&
                   read_number(variable("SLURM_JOB_ID"), step.job) &&
                   read_number(variable("SLURM_PROCID"), step.task) &&
                   read_number(variable("SLURM_NODEID"), step.node) &&
                   read_number(variable("SLURM_LOCALID"), step.local);
  if (!all) return {};
  const char* const order = variable("SLURM_DISTRIBUTION");
  step.blocks = order == nullptr || std::string_view(order).starts_with("block");
  step.nodes = nodes;
  step.tasks_per_node = tasks;
  return step;
}

std::optional<SlurmStep> slurm_step() {
  return slurm_step([](const char* name) -> const char* { return std::getenv(name); });
}

std::vector<std::uint32_t> tasks_of_nodes(const std::string& text) {
  std::vector<std::uint32_t> tasks;
  std::string_view rest(text);
  do {
    const std::optional<std::uint32_t> count = take_number<std::uint32_t>(rest);
    std::optional<std::uint32_t> times = 1;
    if (count && take_word(rest, "(x")) {
      times = take_number<std::uint32_t>(rest);
      if (!take_word(rest, ")")) times.reset();
    }
    if (!count || !times || *times > most_tasks - tasks.size())
      throw std::runtime_error(
          fmt::format("SLURM_STEP_TASKS_PER_NODE={} makes no sense; give "
                      "--meet FOLDER instead",
                      printable(text, 100)));
    tasks.insert(tasks.end(), *times, *count);
  } while (take_word(rest, ","));
  if (rest.empty()) return tasks;
  throw std::runtime_error(
      fmt::format("SLURM_STEP_TASKS_PER_NODE={} makes no sense; give --meet FOLDER instead",
                  printable(text, 100)));
}

std::vector<PeerAddress> step_addresses(const SlurmStep& step,
                                        const std::vector<std::string>& names,
                                        PeerId peers) {
  const std::vector<std::uint32_t> tasks = tasks_of_nodes(step.tasks_per_node);
  std::vector<PeerAddress> all;
  bool in_blocks = step.blocks && tasks.size() == names.size();
  for (std::uint32_t node = 0; in_blocks && node < names.size(); ++node) {
    for (std::uint32_t local = 0; local < tasks[node] && all.size() < peers; ++local) {
      if (local >= ports_of_job)
        throw std::runtime_error(fmt::format(
            "{} tasks on {}, of which at most {} find each other; give --meet FOLDER instead",
            tasks[node], names[node], ports_of_job));
      const auto id = static_cast<PeerId>(all.size());
      if (id == step.task) in_blocks = node == step.node && local == step.local;
      all.push_back({id, names[node], static_cast<std::uint16_t>(first_port(step.job) + local)});
    }
  }
  if (!in_blocks)
    throw std::runtime_error(
        "the tasks of this step are not laid out in blocks, so it is unknown where the others "
        "are\nhelp:  srun --distribution=block, or --meet FOLDER");
  if (all.size() == peers) return all;
  throw std::runtime_error(
      fmt::format("srun has started {} tasks, and the fleet has {} peers\nhelp:  srun --ntasks={}",
                  all.size(), peers, peers));
}

}  // namespace gv
