#include "peer/launch/agent/slurm_step.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::uint32_t most_tasks = 1'000'000;
constexpr std::uint32_t ports_of_job = 100;

/// Reads a number off the front.
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

/// Below the ports that Linux gives to outgoing connections (32768 and up).
std::uint16_t first_port(std::uint64_t job) {
  constexpr std::uint64_t lowest = 20'000, jobs = 100;
  return static_cast<std::uint16_t>(lowest + job % jobs * ports_of_job);
}

}  // namespace

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
            tasks[node],
            names[node],
            ports_of_job));
      const auto id = static_cast<PeerId>(all.size());
      if (id == step.task) in_blocks = node == step.node && local == step.local;
      all.push_back({id, names[node], static_cast<std::uint16_t>(first_port(step.job) + local)});
    }
  }
  if (!in_blocks)
    throw std::runtime_error(
        "the tasks of this step are not laid out in blocks, and nobody knows where the others "
        "are\nhelp:  srun --distribution=block, or --meet FOLDER");
  if (all.size() == peers) return all;
  throw std::runtime_error(
      fmt::format("srun has started {} tasks, and the fleet has {} peers\nhelp:  srun --ntasks={}",
                  all.size(),
                  peers,
                  peers));
}

}  // namespace gv
