#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "generated/tour.h"
#include "optim/machine/workers.h"
#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/record/report/screen.h"
#include "peer/record/runs/stored_run.h"
#include "peer/show/page/graph_page.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/sweep/sweep.h"
#include "peer/study/sweep/sweep_folder.h"

namespace gv::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* usual_folder = "runs/tour";
constexpr std::size_t longest_path = 300;
constexpr std::size_t largest_text = 1U << 20;

constexpr const char* lead_text =
    R"(Eight virtual machines learn to read drawn digits. Six systems train them:
  ring          each machine averages with two neighbours after each step
  ring-32       each machine averages with two neighbours after 32 steps
  all-reduce    all machines add up their gradients in each step
  local-sgd-32  all machines average their models after 32 steps
  server        a parameter server collects all gradients in each step
  fedavg        a server averages all models after 31 steps
The machines are in different cities (20 ms, 100 Mbit/s), or in one data centre
(5 us, 100 Gbit/s). All seconds below are virtual: the time that it takes there.
)";

struct TourArguments {
  std::string folder = usual_folder;
  bool json = false;
};

std::atomic<int> interrupts{0};

void on_interrupt(int signal) {
  interrupts = signal;
}

/// Refuses a folder with files of another program or person.
void refuse_other_content(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored) || fs::is_empty(folder, ignored)) return;
  const auto sweep = read_whole(folder + "/sweep.yaml", largest_text);
  const bool ours = read_whole(folder + "/base.yaml", largest_text) == base_yaml &&
                    sweep.value_or(std::string(sweep_yaml)) == sweep_yaml;
  if (!ours)
    throw std::invalid_argument(fmt::format(
        "tour: {} is there already and holds something else\n"
        "help:  name a new folder: grapevine tour -o {}",
        printable(folder, longest_path), shell_path(printable(folder, longest_path) + "-2")));
}

/// Makes the folder with the fleet file and the sweep file.
void write_files(const std::string& folder) {
  refuse_other_content(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0)
    error = {errno, std::generic_category()};
  if (error)
    throw std::runtime_error(
        fmt::format("tour: cannot write into {}: {}\n"
                    "help:  name another folder: grapevine tour -o FOLDER",
                    printable(folder, longest_path), error.message()));
  write_whole(folder + "/base.yaml", std::string(base_yaml));
  write_whole(folder + "/sweep.yaml", std::string(sweep_yaml));
}

/// Runs the missing trainings. Returns the exit code of a failure, or 0.
int train(const SweepPlan& plan, const SweepFolder& folder, SweepState& state) {
  if (state.ready({}, 1).empty()) {
    const std::string path = printable(folder.path(), longest_path);
    fmt::print(stderr,
               "notice: {0} holds all runs of the tour: nothing is trained again\n"
               "help:  to train again, name a new folder: grapevine tour -o {1}\n",
               path, shell_path(path + "-2"));
    return exit_code::done;
  }
  handle_stop_signals(on_interrupt);
  Claims presence(folder.claims());
  refuse_other_versions(plan, version_text(), presence);
  claim_version(plan, version_text(), presence);
  ProgressLine progress;
  SweepClock clock(plan, state);
  const auto ended = [&](const TrialSlot& slot, const TrialOutcome& outcome) {
    clock.count();
    if (outcome.done && outcome.message.empty()) return;
    progress.clear();
    fmt::print(stderr, "{}: {}{}\n", slot.folder, outcome.done ? "" : "failed: ", outcome.message);
  };
  const auto tick = [&](const auto& running, const std::string& elsewhere) {
    presence.renew();
    progress.update(progress_text(plan, state, running, elsewhere, clock.left()));
  };
  Sweep sweep(plan, folder, state,
              {.program = this_program(),
               .workers = usable_cores().count(),
               .interrupted = [] { return interrupts != 0; }},
              {.on_end = ended, .on_tuned = {}, .on_tick = tick});
  const bool whole = sweep.run();
  progress.clear();
  if (!whole) {
    fmt::print(stderr, "interrupted: {} finished here; the same command continues\n",
               counted(sweep.finished(), "trial"));
    return exit_code_of(interrupts);
  }
  if (sweep.failed().empty()) return exit_code::done;
  fmt::print(stderr, "{}", end_text(plan, folder, state, sweep.failed()));
  return exit_code::peers_lost;
}

struct NextCommand {
  std::string command;
  std::string about;
};

std::vector<NextCommand> next_commands(const std::string& folder) {
  return {{"grapevine compare " + shell_path(folder) + " --by network",
           "says where the time of a round goes, and why one system is first"},
          {"grapevine run " + shell_path(folder + "/base.yaml"),
           "runs the ring for real: eight processes, and the slow network emulated"},
          {"grapevine init mine.yaml --data digits --machines 4 --goal \"accuracy 0.9\"",
           "writes a fleet file of your own; name your table instead of `digits`"}};
}

void print_text(const Comparison& comparison, const std::string& page, const std::string& folder) {
  fmt::print("\n{}\npage       {}\n\nThree commands to continue with:\n",
             brief_comparison_text(comparison), printable(page, longest_path));
  for (const NextCommand& next : next_commands(folder))
    fmt::print("{}\n    {}\n", next.command, next.about);
}

void print_json(const Comparison& comparison,
                const std::string& page,
                const RunList& list,
                const std::string& folder) {
  Json next = Json::array();
  for (const NextCommand& each : next_commands(folder))
    next.push_back(Json{{"command", each.command}, {"about", each.about}});
  console::print({{"schema", "grapevine.tour/1"},
                  {"folder", folder},
                  {"page", page},
                  {"comparison", comparison_json(comparison, list.left_out)},
                  {"next", next}});
}

int tour(const TourArguments& arguments) {
  console::never_wait();
  std::string path = arguments.folder;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  write_files(path);
  if (!arguments.json) fmt::print("{}", lead_text);
  std::fflush(stdout);
  SweepPlan plan = plan_sweep(path + "/sweep.yaml");
  const SweepFolder folder(path);
  folder.remember(plan);
  SweepState state(plan, folder, {}, version_text());
  state.refresh();
  if (const int code = train(plan, folder, state); code != exit_code::done) return code;
  const RunList list = read_runs({folder.path()}, [](std::size_t, std::size_t) {});
  const CompareOptions options{.target = plan.file.target, .by = {"network"}};
  const std::string page = folder.path() + "/report.html";
  RunReport report = make_report(list.runs, options);
  report.title = "A tour of Grapevine";
  write_page(page, report_page(report));
  const Comparison comparison = compare_runs(list.runs, options);
  if (arguments.json)
    print_json(comparison, page, list, folder.path());
  else
    print_text(comparison, page, folder.path());
  return exit_code::done;
}

void tour_options(Options& options, TourArguments& arguments) {
  options.value("-o,--output", arguments.folder, "The folder for the runs and the page")
      .call_values("FOLDER")
      .show_default();
  options.json(arguments.json);
}

}  // namespace

Command tour_command() {
  return command("tour",
                 "Compare gossip with all-reduce and servers, in half a minute and without a file",
                 "  grapevine tour\n"
                 "  grapevine tour -o another-tour\n"
                 "  grapevine tour --json",
                 tour_options, tour);
}

}  // namespace gv::cli
