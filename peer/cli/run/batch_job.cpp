#include "peer/cli/run/batch_job.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/agent/transport/batch_nodes.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/launch/process/process.h"

namespace gv::cli {
namespace {

namespace fs = std::filesystem;

std::size_t hosts_of(const Fleet& fleet) {
  std::set<std::string> hosts;
  for (const PeerSpec& peer : fleet.peers) hosts.insert(peer.host);
  return hosts.size();
}

/// Returns the threads of the peers on a node. `per_host`: as many as one host of the file has.
std::uint64_t cores_of(const Fleet& fleet, std::size_t nodes, bool per_host) {
  int threads = 1;
  for (const PeerSpec& peer : fleet.peers) threads = std::max(threads, peer.threads);
  const std::size_t share = per_host ? hosts_of(fleet) : nodes;
  const std::uint64_t peers = (fleet.size() + share - 1) / share;
  return peers * static_cast<std::uint64_t>(threads);
}

SlurmFleet batch_of(const BatchArguments& arguments, const Fleet& fleet) {
  const std::size_t nodes = arguments.nodes.value_or(hosts_of(fleet));
  const FlatKeys keys = fleet_keys(arguments.file.file, arguments.file.sets);
  const bool per_host =
      std::ranges::count(keys, "peers.per_host", &FlatKeys::value_type::first) > 0;
  SlurmFleet batch{.name = fleet.name,
                   .program = arguments.program,
                   .file = fs::absolute(arguments.file.file).string(),
                   .folder = fs::current_path().string(),
                   .log = fs::absolute(fleet.output_dir).string() + "-%j.log",
                   .directives = arguments.options,
                   .nodes = nodes,
                   .cores = cores_of(fleet, nodes, per_host)};
  for (const std::string& set : arguments.file.sets) {
    batch.arguments.emplace_back("--set");
    batch.arguments.push_back(set);
  }
  if (arguments.file.json) batch.arguments.emplace_back("--json");
  return batch;
}

/// Submits the script and returns what sbatch prints: "1234", or at some sites "1234;cluster".
std::string submitted(const std::string& script) {
  std::string said, wrong;
  try {
    Child sbatch({"sbatch", "--parsable", script});
    hear_out(
        sbatch, [&](const std::string& line) { said = printable(line, 80); },
        [&](const std::string& line) { wrong += "\n  " + printable(line, 300); });
    if (sbatch.status() == 0 && !said.empty()) return said;
  } catch (const std::runtime_error& missing) {
    wrong = fmt::format("\n  {}", missing.what());
  }
  throw std::runtime_error(fmt::format("sbatch has not taken {}:{}", script, wrong));
}

/// Returns the value of launch.with, which is checked with the whole file.
std::string launcher_in(const FleetOptions& file) {
  for (const auto& [key, value] : fleet_keys(file.file, file.sets))
    if (key == "launch.with") return value;
  return "auto";
}

}  // namespace

Placed place_fleet(const FleetOptions& file, const std::string& given) {
  const std::string launcher = given.empty() ? launcher_in(file) : given;
  Placed placed{.file = file, .local = launcher == "local"};
  const BatchSystem* const asked = find_batch_system(launcher);
  const std::optional<BatchJob> job = own_batch_job(asked);
  if (asked != nullptr && !job)
    throw std::runtime_error(fmt::format("not inside a {} job: {}", asked->title, asked->enter));
  if (launcher == "ssh" || placed.local || !job || (launcher == "auto" && job->one_node))
    return placed;
  const Fleet fleet = read_as_named(file, nullptr);
  if (launcher == "auto" && is_lan(fleet)) return placed;
  const std::vector<std::string> nodes = batch_nodes(*job->system, job->nodes);
  if (launcher == "auto" && nodes.size() == 1) return placed;
  for (std::string& set : node_sets(*job->system, fleet, file.file, file.sets, nodes))
    placed.file.sets.push_back(std::move(set));
  placed.batch = job->system;
  return placed;
}

int submit_fleet(const BatchArguments& arguments) {
  if (const std::optional<BatchJob> job = own_batch_job())
    throw std::invalid_argument(fmt::format(
        "run: this is inside job {} already: leave --submit out", printable(job->id, 40)));
  for (const std::string& option : arguments.options)
    if (!is_sbatch_option(option))
      throw std::invalid_argument(fmt::format(
          "run: --sbatch {}: expected an option of sbatch, such as --sbatch=--time=2:00:00",
          printable(option, 100)));
  if (arguments.nodes && (*arguments.nodes < 1 || *arguments.nodes > 100'000))
    throw std::invalid_argument("run: --nodes: expected 1 to 100000");
  const Fleet fleet = read_fleet(arguments.file.file, arguments.file.sets, nullptr);
  const SlurmFleet batch = batch_of(arguments, fleet);
  const std::string script = fleet.output_dir + ".sbatch";
  const fs::path parent = fs::path(script).parent_path();
  std::error_code error;
  if (!parent.empty()) fs::create_directories(parent, error);
  write_file(script, slurm_fleet_script(batch));
  const std::string job = submitted(script);
  if (arguments.file.json)
    console::print({{"event", "submitted"}, {"job", job}, {"script", script}});
  else
    fmt::print("submitted job {} of {}; its output goes to {}\n", job, script, batch.log);
  return exit_code::done;
}

}  // namespace gv::cli
