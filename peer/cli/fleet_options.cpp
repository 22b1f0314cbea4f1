#include "peer/cli/fleet_options.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/graph_file.h"
#include "optim/printable.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/read/sections.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/program/start_file.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_record.h"
#include "peer/runtime/ledger.h"
#include "peer/study/predict/forecast/advice.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv::cli {
namespace {

/// Returns nothing if the file cannot be read.
std::optional<std::string> text_in(const std::string& path) {
  try {
    return file_bytes(path);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Returns whether an input of a run's models has changed. Digests do not cover the peers' own
/// files, which are on their machines.
bool other_bits(const std::string& run_folder, const Fleet& fleet) {
  const std::string path = run_folder + "/run.json";
  const JsonValue run = parse_json(file_bytes(path), path);
  return run.find("bits") != nullptr && json_text(run, "bits") != bits_of(fleet);
}

/// Prints each notice once, although a lobby and a resumed run read the fleet file several times.
void print_notices(const std::vector<std::string>& notices) {
  static std::set<std::string> printed;
  for (const std::string& notice : notices)
    if (printed.insert(notice).second) fmt::print(stderr, "notice: {}\n", notice);
}

void say(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

/// Returns the command that starts the program like peer 0, for another task and without a folder.
std::vector<std::string> scout_words(const FleetOptions& options,
                                     const std::string& binary,
                                     const std::string& task) {
  std::vector<std::string> words{binary, "peer",    options.file, "--id",   "0", "--launched",
                                 ".",    "--where", "here",       "--task", task};
  for (const std::string& set : options.sets) words.insert(words.end(), {"--set", set});
  return words;
}

}  // namespace

Option add_fleet_options(Options& options, FleetOptions& fleet) {
  const Option file = options.value("FILE", fleet.file, "Fleet file (YAML)");
  options.value("--set", fleet.sets, "Override a value: --set train.optimizer.lr=0.05 (repeatable)")
      .call_values("KEY.PATH=VALUE");
  options.json(fleet.json);
  return file;
}

void add_trust(Options& options, bool& trust) {
  options.flag("--trust", trust,
               "Run the code that the folder's fleet file names: program, plug-in, ssh to hosts. "
               "Use it only for folders that you trust");
}

FleetOptions options_named_by(const std::string& run_folder, bool trust) {
  const RunArguments run = read_arguments(run_folder);
  FleetOptions options{.file = run.file, .sets = run.sets};
  if (!trust) options.untrusted = Untrusted{run_folder};
  return options;
}

void find_fleet_file(FleetOptions& options) {
  namespace fs = std::filesystem;
  constexpr const char* usual = "fleet.yaml";
  std::string& file = options.file;
  if (file.empty() && fs::is_regular_file(usual)) file = usual;
  if (!file.empty() && !fs::exists(file) && fs::is_regular_file(file + ".yaml")) file += ".yaml";
  if (file.starts_with('-')) file = "./" + file;  // an option to the commands that get it
}

void tell_devices(const Assembly& fleet, const std::vector<PeerId>& peers) {
  print_notices(check_devices(fleet.fleet, peers));
}

Fleet read_as_named(const FleetOptions& options, std::vector<std::string>* notices) {
  if (!options.untrusted) return read_fleet(options.file, options.sets, notices);
  return read_untrusted_fleet(options.file, options.sets, notices, *options.untrusted);
}

Fleet read_file(FleetOptions& options, std::optional<PeerId> only, bool launched) {
  find_fleet_file(options);
  std::vector<std::string> notices;
  Fleet fleet = read_as_named(options, &notices);
  const bool here = only && *only < fleet.size() && fleet.peers[*only].host == "localhost";
  if (!launched || !here) print_notices(notices);
  return fleet;
}

Assembly assemble(const FleetOptions& given, std::optional<PeerId> only, bool launched) {
  FleetOptions options = given;
  Fleet fleet = read_file(options, only, launched);
  if (fleet.program)
    throw std::invalid_argument(about_program(
        fleet, "its gradients are the program's, and so are model and data",
        "`grapevine run` starts it, and `grapevine plan` predicts the seconds of a round"));
  return Assembly(std::move(fleet), only);
}

std::optional<PeerId> reader_of_parts(const Fleet& fleet) {
  if (!is_lan(fleet) || !lacks_parts(fleet.data, fleet.trainers())) return std::nullopt;
  return fleet.size();
}

namespace {

Assembly assemble_apart(Fleet fleet) {
  const std::optional<PeerId> reader = reader_of_parts(fleet);
  return Assembly(std::move(fleet), reader);
}

}  // namespace

Assembly assemble_apart(const FleetOptions& given, bool silently) {
  FleetOptions options = given;
  Fleet fleet = read_file(options, std::nullopt, silently);
  if (fleet.program) return assemble(options, std::nullopt, silently);  // throws with the reason
  return assemble_apart(std::move(fleet));
}

void print_warnings(const Assembly& fleet) {
  for (const std::string& warning : {rate_warning(fleet), codec_warning(fleet), ledger_gap(fleet)})
    if (!warning.empty()) fmt::print(stderr, "warning: {}\n", warning);
}

std::string read_again(const std::string& run_folder, FleetOptions& options) {
  if (!options.file.empty() || !options.sets.empty())
    throw std::invalid_argument("--resume takes the fleet file and the --set values of the run");
  const RunArguments before = read_arguments(run_folder);
  options.file = before.file;
  options.sets = before.sets;
  return before.digest;
}

void check_again(const std::string& run_folder, const Fleet& fleet, const std::string& digest) {
  const bool same_file = text_in(run_folder + "/fleet.yaml").value_or("") == text_in(fleet.path);
  if (fleet.digest == digest) {
    if (same_file && fleet.data.per_peer() && other_bits(run_folder, fleet))
      fmt::print(
          stderr,
          "warning: {} is the same, but a file that it names has changed since {} began: the "
          "peers' own files of data, or their links\n",
          fleet.path, run_folder);
    return;
  }
  if (same_file)
    throw std::invalid_argument(
        fmt::format("the data have changed since {} began, or another file that {} names; put them "
                    "back, or begin a new run",
                    run_folder, fleet.path));
  throw std::invalid_argument(
      fmt::format("{} has changed since {} began; the run's copy is {}/fleet.yaml", fleet.path,
                  run_folder, run_folder));
}

Assembly assemble_again(const std::string& run_folder, FleetOptions& options) {
  const std::string digest = read_again(run_folder, options);
  Assembly fleet = assemble(options);
  check_again(run_folder, fleet.fleet, digest);
  return fleet;
}

Assembly assemble_to_run(const FleetOptions& given,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout) {
  FleetOptions options = given;
  Fleet fleet = read_file(options);
  return assemble_to_run(std::move(fleet), options, binary, scout);
}

Assembly assemble_to_run(Fleet fleet,
                         const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout) {
  if (!fleet.program) return assemble_apart(std::move(fleet));
  scout = std::make_unique<Scout>(
      fleet, ScoutOptions{.argv = scout_words(options, binary, "ask"), .say = say});
  ProgramModel model = model_of(scout->introduction(), scout->start());
  return Assembly(std::move(fleet), std::nullopt, std::move(model));
}

Assembly assemble_to_plan(const FleetOptions& given) {
  FleetOptions options = given;
  Fleet fleet = read_file(options);
  if (!fleet.program) return assemble_apart(std::move(fleet));
  const Scout measured(fleet, ScoutOptions{.argv = scout_words(options, peer_program(), "measure"),
                                           .say = say,
                                           .awaited = "taken the steps that it is timed by"});
  ProgramModel model = model_of(measured.introduction(), measured.start());
  const double seconds = measured.introduction().seconds_per_step.value_or(0);
  model.gradient_flops = seconds * crowding(fleet) * fleet.flops * fleet.peers.front().speed;
  return Assembly(std::move(fleet), std::nullopt, std::move(model));
}

double crowding(const Fleet& fleet) {
  if (is_lan(fleet)) return 1;
  double threads = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) threads += fleet.peers[i].threads;
  return std::max(1.0, threads / machine_facts().cores);
}

std::vector<std::string> hand_over(const Scout* scout, const RunFolder& folder) {
  if (scout == nullptr) return {};
  const std::string path = folder.file(start_name);
  write_start(path, scout->introduction(), scout->start());
  return {"--start", std::filesystem::absolute(path).string()};
}

}  // namespace gv::cli
