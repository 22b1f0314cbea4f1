#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "optim/unknown_figure.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/run/batch_job.h"
#include "peer/cli/run/grown_run.h"
#include "peer/cli/run/run_end.h"
#include "peer/cli/run/run_screen.h"
#include "peer/cli/run/start_checks.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/key_words.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/launcher/launcher.h"
#include "peer/launch/run/best_model.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_meter.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/export/trace_json.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/live_address.h"
#include "peer/show/live/live_service.h"
#include "peer/study/predict/forecast/advice.h"

namespace gv::cli {
namespace {

struct RunOptions {
  FleetOptions file;
  std::string program = peer_program();
  std::string resume;
  std::string trace;
  std::string launcher;  ///< "" for launch.with of the file
  bool submit = false;
  std::vector<std::string> sbatch;
  std::optional<std::uint64_t> nodes;
  LiveOptions live;
};

/// Returns whether the run is complete, whether or not its target was reached.
bool was_good(int code) {
  return code == exit_code::done || code == exit_code::check_failed;
}

RunTitle title_of(const Assembly& fleet, const RunFolder& folder) {
  RunTitle title{.name = fleet.fleet.name,
                 .folder = folder.path(),
                 .method = fmt::format("{} {}", fleet.algorithm->kind, fleet.algorithm->order),
                 .graph = mixing_figures(fleet).name,
                 .hosts = host_names(fleet.fleet),
                 .own_shares = have_own_shares(fleet.fleet)};
  if (fleet.fleet.stop.time) title.stop_seconds = in_seconds(*fleet.fleet.stop.time);
  return title;
}

RunFolder new_run(const Assembly& fleet, const FleetOptions& file) {
  return begin_run(fleet, {.kind = "run",
                           .file = file.file,
                           .sets = file.sets,
                           .version = version_text(),
                           .resumed = {}});
}

/// Starts the fleet and follows it to its end.
LaunchResult launch(const Assembly& fleet,
                    const RunFolder& folder,
                    Observer& observer,
                    Places& places,
                    const LaunchOptions& options,
                    LiveService& live,
                    Screen& screen) {
  if (!live.url().empty()) screen.say("page   " + live.url());
  if (!live.note().empty()) screen.say(live.note());
  Launcher launcher(fleet, folder, observer, places, options, screen.callbacks(live.feed()));
  LaunchResult result = launcher.run();
  screen.finish();
  // A second Ctrl-C kills peers on purpose: do not list them as lost.
  const bool asked = was_interrupted(result) && !observer.summary();
  if (!result.lost.empty() && !asked) screen.say(lost_table(result));
  return result;
}

/// Finds the round from which the run of this folder continues, and takes later records and the old
/// end out of metrics.jsonl.
Resumed go_on(const Assembly& fleet, const RunFolder& folder) {
  const Round round = newest_common_round(fleet, folder);
  Resumed past{.costs = costs_of(fleet, folder, round), .round = round};
  for (const Costs& costs : past.costs) {
    past.seconds = std::max(past.seconds, in_seconds(costs.spent.total()));
    past.training_seconds = std::max(past.training_seconds, in_seconds(costs.training_time()));
  }
  const std::string lines = earlier_metrics(fleet, folder, round, fleet.rounds, past.costs);
  past.recalled = recalled(fleet, folder, lines);
  folder.write("metrics.jsonl", lines);
  // The evaluation of that round came a little after its checkpoint.
  const std::vector<MetricsRow> rows = read_metrics(folder.file("metrics.jsonl"));
  if (!rows.empty()) {
    past.seconds = std::max(past.seconds, rows.back().seconds);
    past.training_seconds =
        std::max(past.training_seconds, rows.back().training_seconds.value_or(0));
  }
  std::filesystem::remove(folder.file("summary.json"));
  return past;
}

RunFolder folder_of(const Assembly& fleet,
                    const RunOptions& options,
                    const std::optional<GrownRun>& grown) {
  if (grown) return begin_grown(fleet, options.file, *grown);
  return options.resume.empty() ? new_run(fleet, options.file) : RunFolder::open(options.resume);
}

Json end_json(const RunMeter& meter, const std::optional<Resumed>& past) {
  Json ended = meter.end();
  if (past) ended["from_round"] = past->round;
  return ended;
}

/// Checks the options before a folder is made. Throws std::invalid_argument.
void check_run_arguments(const RunOptions& options) {
  if (options.file.file.empty() && options.resume.empty())
    throw std::invalid_argument(
        "run: FILE, or --resume RUN, is required\n"
        "help:  grapevine run --help shows the options");
  if (!options.live.serve.empty()) parse_live_address(options.live.serve);
  if (!options.submit && (options.nodes || !options.sbatch.empty()))
    throw std::invalid_argument("run: --nodes and --sbatch are about --submit, which is not given");
  if (options.live.serve.empty() && options.live.no_token)
    throw std::invalid_argument("run: --no-token is about the page of --serve, which is not given");
}

void check_trace(const RunOptions& options, const Fleet& fleet) {
  if (options.trace.empty() || (fleet.record.on && fleet.record.moments)) return;
  throw std::invalid_argument(
      "run: --trace draws what the peers record, and this fleet file has `record` off, or its "
      "moments\nhelp:  --set record=true");
}

/// Writes the timeline. The run is over and saved, so an error here changes nothing.
void write_trace(const RunOptions& options, const RunFolder& folder, Screen& screen) {
  if (options.trace.empty()) return;
  try {
    const RoundRange all{0, std::numeric_limits<Round>::max()};
    const WrittenTrace written = write_run_trace(folder.path(), options.trace, all);
    screen.say(
        fmt::format("trace      {}: {} moments of {} peers; open it at "
                    "https://ui.perfetto.dev",
                    options.trace, written.moments, written.peers));
  } catch (const std::exception& e) {
    screen.say(fmt::format("error: the timeline is not written: {}", e.what()));
  }
}

/// Returns the machines of the fleet, or null if all peers are on this machine. Prints the machines
/// and their addresses for each other before the run begins.
std::unique_ptr<Lan> lan_of(const Assembly& fleet,
                            const RunOptions& options,
                            const Placed& at,
                            const Scout* scout,
                            bool grown) {
  if (!is_lan(fleet.fleet)) return nullptr;
  if (at.local)
    throw std::invalid_argument(
        "run: the fleet is to stay on this machine, and has hosts elsewhere\nhelp:  leave out "
        "`launch: { with: local }`, or --launcher local; or give the peers no such host");
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  LanOptions start{options.program, fleet.fleet.path, at.file.sets, say, at.batch};
  if (!options.resume.empty() && !grown) start.folders = read_host_folders(options.resume);
  if (scout != nullptr) start.introduction = scout->introduction();
  auto lan = std::make_unique<Lan>(fleet, std::move(start));
  say(lan->summary());
  return lan;
}

/// Makes the run's keys, which end with it. Only the peers get them, through their start pipes.
std::vector<PeerKeys> keys_of_run(const Assembly& fleet, bool several_machines) {
  const SecurityMode mode = fleet.fleet.security.mode;
  const bool needed =
      mode == SecurityMode::tls || (mode == SecurityMode::automatic && several_machines);
  if (!needed) return {};
  keep_memory_to_ourselves();
  return make_keys(fleet.fleet.size());
}

BatchArguments batch_of(const RunOptions& options) {
  if (!options.resume.empty())
    throw std::invalid_argument(
        "run: --submit takes FILE; to resume a run, start `grapevine run --resume` from "
        "sbatch");
  return {.file = options.file,
          .program = options.program,
          .nodes = options.nodes,
          .options = options.sbatch};
}

/// Saves the result of the run, and prints it.
int finish_run(const RunOptions& options,
               const Assembly& fleet,
               const RunFolder& folder,
               const Observer& observer,
               Scout* scout,
               LaunchResult result,
               const Json& ended,
               Screen& screen) {
  if (!observer.summary()) {
    screen.say(without_summary(result, observer, folder));
    return result.code;
  }
  // A run that an order stopped is not checked for its target.
  if (!result.asked_to_stop) result.code = code_with_target(result.code, fleet, observer);
  if (!result.not_fetched.empty() && was_good(result.code)) result.code = exit_code::not_kept;
  std::string summary = final_json(fleet, observer, result).dump();
  const std::string unsaved = save(fleet, folder, observer, summary, ended);
  if (!unsaved.empty()) {
    if (was_good(result.code)) result.code = exit_code::not_kept;
    summary = final_json(fleet, observer, result).dump();
    end_without_model(folder, summary, ended);
    screen.say(unsaved_text(unsaved, folder.path()));
  }
  const std::string beside = unsaved.empty() ? save_whole(folder, observer, scout) : "";
  if (has_diverged(observer.summary()->mean.loss)) screen.say(loss_not_finite(fleet));
  write_trace(options, folder, screen);
  if (options.file.json) {
    fmt::print("{}\n", summary);
  } else {
    print_end(fleet, observer, result, folder.path());
    if (unsaved.empty()) fmt::print("saved      {}/model.safetensors{}\n", folder.path(), beside);
    const bool has_more = was_interrupted(result) || result.code == exit_code::peers_lost;
    if (has_more) fmt::print("{}\n", how_to_resume(folder.path()));
  }
  std::fflush(stdout);
  return result.code;
}

int run_fleet(const RunOptions& given) {
  console::never_wait();
  RunOptions options = given;
  if (options.resume.empty()) find_fleet_file(options.file);
  check_run_arguments(options);
  if (options.submit) return submit_fleet(batch_of(options));
  const bool resume = !options.resume.empty();
  if (resume && connect_live(options.resume).open())
    throw std::invalid_argument(
        fmt::format("run: {} is still running in another process", options.resume));
  std::optional<GrownRun> grown;
  if (resume && !options.file.sets.empty()) grown = grow(options.resume, options.file);
  const bool again = resume && !grown;
  const std::string before = again ? read_again(options.resume, options.file) : "";
  Placed at = place_fleet(options.file, options.launcher);
  Fleet spec = read_file(at.file);
  if (again) check_again(options.resume, spec, before);
  std::unique_ptr<Scout> scout;
  const Assembly fleet = assemble_to_run(std::move(spec), at.file, options.program, scout);
  check_trace(options, fleet.fleet);
  check_run_fits(fleet);
  std::unique_ptr<Lan> lan = lan_of(fleet, options, at, scout.get(), grown.has_value());
  std::vector<PeerId> everyone(fleet.fleet.size());
  std::iota(everyone.begin(), everyone.end(), PeerId{0});
  if (!lan && !scout) tell_devices(fleet, everyone);  // a program finds its devices itself
  print_warnings(fleet);
  const RunFolder folder = folder_of(fleet, options, grown);
  keep_room(folder);
  LiveService live(title_of(fleet, folder), folder, options.live);
  if (lan && again) lan->bring_home(folder);
  const std::optional<Resumed> past = resume ? std::optional(go_on(fleet, folder)) : std::nullopt;
  if (lan && past) lan->give_past(folder);
  if (lan) lan->keep_files(folder);
  const std::vector<std::string> more = hand_over(scout.get(), folder);
  if (lan && scout) lan->give_start(folder.path(), start_name);
  ThisMachine here(options.program, fleet.fleet.path, folder.path(), options.file.sets, more);
  const RunMeter meter;
  Screen screen(fleet, folder, options.file.json);
  if (scout) scout->tell([&](const std::string& line) { screen.say(line); });
  const std::unique_ptr<Evaluator> own = scout ? nullptr : make_evaluator(fleet.evaluator());
  Observer observer(fleet.fleet.size(), scout ? *scout : *own, [&](const FleetRecord& r) {
    screen.record(r, observer);
    live.feed().put(r);
  });
  LaunchResult result =
      launch(fleet, folder, observer, lan ? static_cast<Places&>(*lan) : here,
             {.from = past, .orders = &live.orders(), .keys = keys_of_run(fleet, lan != nullptr)},
             live, screen);
  if (lan) result.not_fetched = lan->bring_home(folder);
  const int code = finish_run(options, fleet, folder, observer, scout.get(), result,
                              end_json(meter, past), screen);
  if (!result.not_fetched.empty()) screen.say(not_fetched_text(result.not_fetched, folder.path()));
  return code;
}

void run_options(Options& options, RunOptions& arguments) {
  add_fleet_options(options, arguments.file);
  options.value("--resume", arguments.resume,
                "Resume the run in this folder from its newest checkpoints. With --set: as a "
                "larger fleet, on another graph or for longer, in a new folder");
  options
      .value("--launcher", arguments.launcher,
             "Launcher of the peers, instead of launch.with of the file (see `grapevine explain "
             "launch.with`)")
      .one_of(key_words("launch.with"));
  options.flag("--submit", arguments.submit, "Write a batch script and hand it to Slurm's sbatch");
  options.value("--nodes", arguments.nodes,
                "With --submit: number of nodes (default: one per host)");
  options
      .value("--sbatch", arguments.sbatch,
             "With --submit: option for sbatch, such as --sbatch=--time=2:00:00 (repeatable)")
      .call_values("OPTION");
  options
      .value("--serve", arguments.live.serve,
             "Show the run on a page at 127.0.0.1:PORT (0: any free port), and its metrics to "
             "Prometheus at /metrics")
      .call_values("ADDRESS:PORT");
  options.flag("--no-token", arguments.live.no_token,
               "With --serve: let every user of this machine read the page without a token");
  options
      .value("--trace", arguments.trace,
             "File for a timeline of each peer for Perfetto, written at the end (see trace)")
      .call_values("FILE");
  options.value("--peer-binary", arguments.program,
                "Program of the peers; also GRAPEVINE_PEER_BINARY (default: this program)");
}

}  // namespace

Command run_command() {
  return command(
      "run",
      "Start all peers of a fleet file, here or over ssh on its hosts, and show their progress",
      "  grapevine run configs/fashion-ring8.yaml\n"
      "  grapevine run configs/fashion-ring8.yaml --set topology=hypercube --set peers=16\n"
      "  grapevine run configs/quadratic-ring16.yaml --json | tail -n 1\n"
      "  grapevine run configs/fashion-ring8.yaml --serve 127.0.0.1:8080\n"
      "  grapevine run configs/fashion-ring8.yaml --set checkpoint.every=\"100 rounds\"\n"
      "  grapevine run --resume runs/fashion-ring8\n"
      "  grapevine run --resume runs/fashion-ring8 --set peers=9 --set stop.rounds=6000\n"
      "  grapevine run lan.yaml          # with `hosts`: their peers are started over ssh\n"
      "  grapevine run fleet.yaml --submit --nodes 4 --sbatch=--partition=short",
      run_options, run_fleet);
}

}  // namespace gv::cli
