#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>

#include "optim/machine/workers.h"
#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/record/report/screen.h"
#include "peer/record/runs/stored_run.h"
#include "peer/show/page/report/svg_file.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/expectations.h"
#include "peer/study/sweep/plan/trial_plan.h"
#include "peer/study/sweep/sweep.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/trial_job.h"

namespace gv::cli {
namespace {

CompareOptions options_of(const SweepFile& file) {
  CompareOptions options{.target = file.target, .by = {}};
  for (std::size_t axis = 1; axis < file.axes.size(); ++axis)
    if (file.axes[axis].values.size() > 1) options.by.push_back(file.axes[axis].name);
  return options;
}

/// Returns the columns that the table needs only for its picture.
std::vector<Measure> columns_of(const SweepFile& file) {
  if (!file.picture || file.picture->y == "speed-up") return {};
  return {measure_named(file.picture->y)};
}

/// Runs of a sweep, separate by its axes and all together.
struct Answer {
  Comparison apart;
  Comparison whole;
};

/// Judges a claim in each section if its names are unique there, else over all runs together.
JudgedClaim judge(const Answer& answer, const ExpectedClaim& claim) {
  if (answer.apart.by.empty() || !claim.where.empty()) return judge_claim(answer.apart, claim);
  try {
    return judge_claim(answer.apart, claim);
  } catch (const std::invalid_argument&) {
    return judge_claim(answer.whole, claim);
  }
}

std::string picture_of(const SweepFile& file, const Answer& answer) {
  if (!file.picture) return race_picture(answer.apart, file.name);
  const SweepPicture& p = *file.picture;
  return axis_picture(answer.whole, {p.x, p.name, p.y, p.model}, file.name);
}

/// Compares the runs of a finished sweep separately for each value of all axes but the first,
/// rewrites the text between the marks in the README.md next to the sweep file, draws the picture,
/// and checks the file's `expect`. A claim whose names are ambiguous or missing in the sections is
/// checked over all runs together. Returns the exit code: check_failed if a claim did not pass.
/// Throws std::runtime_error if there is no such README or it has no marks.
///
/// A file sweep.yaml writes between these lines, and draws answer.svg:
///
///   <!-- answer -->
///   <!-- end of answer -->
///
/// Another file of the folder, such as latency.yaml, writes between `<!-- answer: latency -->` and
/// `<!-- end of answer: latency -->`, and draws latency.svg.
int write_answer(const SweepPlan& plan, const SweepFolder& folder) {
  std::vector<ExpectedClaim> claims;
  for (const std::string& text : plan.file.expect) claims.push_back(parse_claim(text));
  const RunList list = read_runs({folder.path()}, [](std::size_t, std::size_t) {});
  for (const std::string& reason : list.left_out) fmt::print(stderr, "left out: {}\n", reason);
  const CompareOptions options = options_of(plan.file);
  const Answer answer{compare_runs(list.runs, options),
                      compare_runs(list.runs, {.target = options.target, .by = {}})};
  std::string text = comparison_markdown(answer.apart, columns_of(plan.file));
  bool held = true;
  if (!claims.empty()) text += "\n";
  for (const ExpectedClaim& claim : claims) {
    const JudgedClaim judged = judge(answer, claim);
    held = held && judged.verdict == JudgedClaim::Verdict::passed;
    text += fmt::format("- `{}`: {}. {}\n", judged.text, name_of(judged.verdict), judged.reason);
  }
  const std::filesystem::path file = plan.file.path;
  const AnswerPage page(file.parent_path().string(), file.stem().string());
  page.write(text);
  page.draw(picture_of(plan.file, answer));
  fmt::print("{}wrote {} and {}\n", text, page.page(), page.picture());
  return held ? exit_code::done : exit_code::check_failed;
}

std::atomic<int> interrupts{0};

void on_interrupt(int signal) {
  interrupts = signal;
}

struct SweepArguments {
  std::string file;
  bool dry_run = false;
  bool list = false;
  bool extend = false;
  bool keep_trials = false;
  std::vector<std::string> only;
  std::uint32_t workers = 0;
  std::string submit;
  std::uint32_t tasks = 0;
  bool json = false;
  bool answer = false;
  std::string worker;
};

/// Number of trials at a time: the user's, else for simulated trials as many as cores and free
/// memory allow, and for real runs the file's.
struct Workers {
  std::size_t count = 1;
  MemoryRoom memory{};
};
Workers workers_of(const SweepArguments& arguments, const SweepPlan& plan) {
  if (!plan.file.simulated)
    return {.count = arguments.workers > 0 ? arguments.workers : plan.file.parallel};
  ProgressLine progress;
  progress.update("measuring how much memory a trial takes");
  const MemoryRoom memory = memory_room(plan, this_program());
  progress.clear();
  if (!memory.unmeasured.empty())
    fmt::print(stderr, "warning: the memory of some trials could not be measured: {}\n",
               memory.unmeasured);
  const std::size_t wanted = arguments.workers > 0 ? arguments.workers : usable_cores().count();
  const std::size_t fitting = memory.fitting(wanted);
  if (fitting == wanted) return {.count = wanted, .memory = memory};
  fmt::print(stderr, "warning: {}: {} fit at a time{}\n", memory.words(), counted(fitting, "trial"),
             arguments.workers > 0 ? fmt::format(", and --workers asks for {}", wanted) : "");
  return {.count = arguments.workers > 0 ? wanted : fitting, .memory = memory};
}

int list(const SweepPlan& plan, const SweepFolder& folder, const SweepState& state, bool json) {
  if (json)
    console::print(sweep_json(plan, folder, state, {}));
  else
    fmt::print("{}", list_text(plan, folder, state));
  return exit_code::done;
}

int submit(const SweepArguments& arguments, const SweepPlan& plan, const SweepFolder& folder) {
  if (arguments.submit != "slurm")
    throw std::invalid_argument(fmt::format(
        "unknown batch system `{}`\nhelp:  write --submit slurm --tasks N", arguments.submit));
  const std::string path = folder.path() + "/sweep.sbatch";
  write_whole(path, slurm_script(
                        {.name = plan.file.name,
                         .program = this_program(),
                         .file = std::filesystem::absolute(arguments.file).string(),
                         .folder = std::filesystem::current_path().string(),
                         .log = std::filesystem::absolute(folder.path()).string() + "/slurm-%a.log",
                         .only = arguments.only,
                         .keep_trials = arguments.keep_trials,
                         .tasks = arguments.tasks > 0 ? arguments.tasks : 1,
                         .workers = arguments.workers > 0 ? arguments.workers : 1}));
  fmt::print("wrote {}\nsubmit it with: sbatch {}\n", path, path);
  return exit_code::done;
}

/// Output of a sweep in progress, for people or programs.
class SweepScreen {
 public:
  SweepScreen(const SweepPlan& plan, const SweepState& state, bool json)
      : plan_(plan), state_(state), json_(json), clock_(plan, state) {}

  SweepEvents events() {
    return {
        .on_end = [this](const TrialSlot& slot, const TrialOutcome& o) { ended(slot, o); },
        .on_tuned = [this](std::size_t family,
                           const TunedFamily& tuned) { say_tuned(family, tuned); },
        .on_tick =
            [this](const std::vector<WorkerPool::Running>& running, const std::string& elsewhere) {
              progress_.update(progress_text(plan_, state_, running, elsewhere, clock_.left()));
            }};
  }

  void finish() { progress_.clear(); }

 private:
  void ended(const TrialSlot& slot, const TrialOutcome& outcome) {
    clock_.count();
    if (outcome.done && outcome.message.empty()) return;
    progress_.clear();
    fmt::print(stderr, "{}: {}{}\n", slot.folder, outcome.done ? "" : "failed: ", outcome.message);
  }

  void say_tuned(std::size_t family, const TunedFamily& tuned) {
    progress_.clear();
    const std::string text = tuned_text(plan_, family, tuned);
    fmt::print(json_ ? stderr : stdout, "{}\n", text);
    std::fflush(stdout);
    for (const TuningEdge& edge : tuned.edges)
      fmt::print(
          stderr, "warning: {}: {}; {}\n", plan_.families[family].label, edge.words,
          edge.listed ? "add values beyond it to the list" : "--extend widens its range for all");
  }

  const SweepPlan& plan_;
  const SweepState& state_;
  bool json_;
  SweepClock clock_;
  ProgressLine progress_;
};

/// Runs the trials. `presence`: shows other processes the version of the sweep we work on.
int work(const SweepArguments& arguments,
         const SweepPlan& plan,
         const SweepFolder& folder,
         SweepState& state,
         Claims& presence) {
  // Measured only if there is work, and before a Ctrl-C waits for trials.
  const std::size_t workers = state.ready({}, 1).empty() ? 1 : workers_of(arguments, plan).count;
  handle_stop_signals(on_interrupt);
  SweepScreen screen(plan, state, arguments.json);
  SweepEvents events = screen.events();
  events.on_tick = [&presence, tick = events.on_tick](const auto& running, const auto& elsewhere) {
    presence.renew();
    tick(running, elsewhere);
  };
  Sweep sweep(plan, folder, state,
              {.program = this_program(),
               .workers = workers,
               .interrupted = [] { return interrupts != 0; }},
              std::move(events));
  const bool whole = sweep.run();
  screen.finish();
  if (!whole) {
    fmt::print(stderr, "interrupted: {} finished here; the same command continues\n",
               counted(sweep.finished(), "trial"));
    return exit_code_of(interrupts);
  }
  fmt::print(stderr, "{}", kept_builds_text(plan, state, version_text()));
  Json json = sweep_json(plan, folder, state, sweep.failed());
  json["finished_here"] = sweep.finished();
  if (arguments.json)
    console::print(json);
  else
    fmt::print("{}", end_text(plan, folder, state, sweep.failed()));
  if (!sweep.failed().empty()) return exit_code::peers_lost;
  return arguments.answer ? write_answer(plan, folder) : exit_code::done;
}

/// Returns the plan with the earlier additions of --extend, numbered as in the folder. Processes
/// that begin at the same time agree on the numbers; none begins while others work on another
/// version of the file. `build`: its trials count as done. `presence`: our claim, or null if we
/// will not work.
SweepPlan numbered_plan(const std::string& file,
                        const SweepFolder& folder,
                        const std::string& build,
                        Claims* presence) {
  Claims claims(folder.claims());
  while (!claims.take("plan")) ::poll(nullptr, 0, 50);
  SweepPlan plan = plan_sweep(file, folder.extensions());
  refuse_other_versions(plan, build, claims);
  if (presence != nullptr) claim_version(plan, build, *presence);
  folder.remember(plan);
  return plan;
}

/// Returns the ends of ranges at which best values lie.
std::vector<TuningEdge> edges_in(const SweepPlan& plan, const SweepState& state) {
  std::vector<TuningEdge> edges;
  for (std::size_t f = 0; f < plan.families.size(); ++f) {
    if (plan.families[f].brackets.empty()) continue;
    if (!state.tuned(f))
      throw std::invalid_argument(
          fmt::format("--extend: {} is not tuned yet\nhelp:  run the sweep without it first",
                      plan.families[f].label));
    edges.insert(edges.end(), state.tuned(f)->edges.begin(), state.tuned(f)->edges.end());
  }
  return edges;
}

void extend(const std::string& file, const SweepFolder& folder, const std::string& build) {
  const SweepPlan plan = numbered_plan(file, folder, build, nullptr);
  SweepState state(plan, folder, {}, build);
  state.refresh();
  const KnobRanges ranges =
      beyond(edges_in(plan, state), plan.file.tune.value_or(TuningSpec{}).knobs, plan.extensions);
  if (ranges.empty()) {
    fmt::print(stderr, "no best value lies at an end of a range: there is nothing to extend\n");
    return;
  }
  std::vector<KnobRanges> all = plan.extensions;
  all.push_back(ranges);
  plan_sweep(file, all);  // checks the new values before they are kept
  folder.add_extension(ranges);
  for (const auto& [key, ends] : ranges)
    fmt::print(stderr, "extended: {} to {:.4g} .. {:.4g}, for all methods\n", key, ends.first,
               ends.second);
}

int dry_run(const SweepArguments& arguments, const SweepPlan& plan) {
  const Workers workers = workers_of(arguments, plan);
  const SweepEstimate estimate = estimate_sweep(plan, workers.count, workers.memory);
  fmt::print("{}", arguments.json ? estimate_json(plan, estimate).dump() + "\n"
                                  : estimate_text(plan, estimate));
  return exit_code::done;
}

int run_sweep(const SweepArguments& arguments) {
  if (arguments.worker == "memory") return tell_trial_memory();
  if (!arguments.worker.empty()) return run_worker(this_program(), version_text());
  if (arguments.file.empty())
    throw std::invalid_argument(
        "sweep: FILE is required\nhelp:  grapevine sweep --help shows the options");
  console::never_wait();
  const SweepPlan first = plan_sweep(arguments.file);
  const CellPattern only = only_pattern(arguments.only, first);
  if (arguments.dry_run) return dry_run(arguments, first);
  const SweepFolder folder(first.file.output_dir);
  const std::string build = arguments.keep_trials ? "" : version_text();
  if (arguments.extend) extend(arguments.file, folder, build);
  const bool works = arguments.submit.empty() && !arguments.list;
  Claims presence(folder.claims());
  const SweepPlan plan = numbered_plan(arguments.file, folder, build, works ? &presence : nullptr);
  if (!arguments.submit.empty()) return submit(arguments, plan, folder);
  SweepState state(plan, folder, only, build);
  state.refresh();
  fmt::print(stderr, "{}", left_builds_text(state));
  return arguments.list ? list(plan, folder, state, arguments.json)
                        : work(arguments, plan, folder, state, presence);
}

void sweep_options(Options& options, SweepArguments& arguments) {
  options.value("FILE", arguments.file, "Sweep file (YAML)");
  options.flag("--dry-run", arguments.dry_run,
               "Print what would be done and how long it takes, after two seconds of training");
  options.flag("--list", arguments.list, "List the trials and their progress without starting any");
  options
      .value("--only", arguments.only,
             "Run only trials with one of these labels on this axis, or seed=1, stage=tune "
             "(repeatable)")
      .call_values("AXIS=LABEL[,LABEL]");
  options.flag(
      "--extend", arguments.extend,
      "Widen ranges whose best value lies at an end, and tune all methods in the wider ranges");
  options.flag("--keep-trials", arguments.keep_trials,
               "Keep trials of other builds as done instead of repeating them");
  options
      .value("--workers", arguments.workers,
             "Number of parallel trials; 0: as many as cores and free memory allow, for real runs "
             "`parallel`")
      .range(0, 1024);
  options.value("--submit", arguments.submit, "Write a batch script instead of running")
      .call_values("slurm");
  options
      .value("--tasks", arguments.tasks, "With --submit: number of invocations that share the work")
      .range(1, 100000);
  options.flag("--answer", arguments.answer,
               "At the end, rewrite the table in the README.md next to FILE, between the lines "
               "`<!-- answer -->` and `<!-- end of answer -->`, and check it against the file's "
               "`expect` (exit 4 if it fails)");
  options.json(arguments.json);
  options.value("--worker", arguments.worker, "Be a worker process, whose jobs come from there")
      .one_of({"stdin", "memory"})
      .hide();
}

}  // namespace

Command sweep_command() {
  return command(
      "sweep", "Run a fleet file in many variations, tuned and with several seeds",
      "  grapevine sweep configs/sweeps/digits-networks.yaml --dry-run\n"
      "  grapevine sweep configs/sweeps/digits-networks.yaml\n"
      "  grapevine sweep configs/sweeps/digits-networks.yaml --list --only network=wifi\n"
      "  grapevine sweep configs/sweeps/digits-networks.yaml --submit slurm --tasks 16",
      sweep_options, run_sweep);
}

}  // namespace gv::cli
