#include "peer/study/sweep/trial_job.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>

#include "optim/machine/cache_home.h"
#include "optim/machine/workers.h"
#include "optim/printable.h"
#include "peer/fleet/json/fields.h"
#include "peer/launch/process/process.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/exit_code.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_json = 64U << 20;

/// Returns whether a run with this exit code has a result, even if peers were lost on the way.
bool has_result(int code) {
  return code == exit_code::done || code == exit_code::peers_lost || code == exit_code::failed ||
         code == exit_code::check_failed;
}

/// Returns the round in metrics.jsonl in which the loss became infinite or NaN.
std::optional<std::uint64_t> diverged_in(const std::string& metrics) {
  std::ifstream in(metrics);
  for (std::string line; std::getline(in, line);) {
    const JsonValue json = parse_json(line, metrics);
    if (json_text(json, "event") != "evaluate") continue;
    if (!std::isfinite(json_number(json, "loss")))
      return json_integer<std::uint64_t>(json, "round");
  }
  return std::nullopt;
}

void tell_round(const std::string& line, const TrialProgress& progress) {
  try {
    const JsonValue json = parse_json(line, "run");
    if (json_text(json, "event") == "evaluate")
      progress(json_integer<std::uint64_t>(json, "round"), 0);
  } catch (const std::exception&) {  // not a line of ours
  }
}

/// Runs the run command in a process of its own, which starts and ends the peers.
TrialOutcome real_trial(const TrialJob& job,
                        const std::string& program,
                        const std::string& version,
                        const TrialProgress& progress) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::string> argv{program, "run", job.file, "--json"};
  for (const std::string& set : job.sets) argv.insert(argv.end(), {"--set", set});
  argv.insert(argv.end(), {"--set", "output.dir=" + job.working});
  Child child(argv);
  std::string last_words;
  hear_out(
      child, [&](const std::string& line) { tell_round(line, progress); },
      [&](const std::string& line) { keep_last_words(last_words, printable(line, 200)); });
  const int status = child.status();
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto summary = read_whole(job.working + "/summary.json", largest_json);
  if (!has_result(code) || !summary)
    return {false, fmt::format("{}: {}", child.ending(), last_words)};
  if (!job.keep_model) {
    std::error_code ignored;
    fs::remove(job.working + "/model.safetensors", ignored);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  publish_trial(job,
                {.identity = job.identity,
                 .sets = job.sets,
                 .fraction = job.fraction,
                 .diverged = diverged_in(job.working + "/metrics.jsonl"),
                 .deadline_passed = false,
                 .replayed = false,
                 .wall_seconds = wall.count(),
                 .ended = now_text(),
                 .build = version},
                *summary);
  return {true, ""};
}

constexpr std::size_t most_measured = 6;  ///< families; the largest counts
constexpr Round measured_rounds = 2;      ///< all buffers exist in the second round

/// Returns the private memory of this process: proc(5), /proc/pid/status.
double own_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kib = 0;
    if (word == "RssAnon:" && in >> kib) return kib * 1024;
  }
  return 0;
}

/// Returns the peak memory of the first rounds, on one thread as in a worker.
double bytes_in_rounds(const Assembly& fleet) {
  double most = 0;
  SimulationOptions options;
  options.on_progress = [&](Round round, Time) {
    most = std::max(most, own_bytes());
    if (round >= measured_rounds) throw SeenEnough{};
  };
  simulate_blind(fleet, options);
  return std::max(most, own_bytes());
}

/// Returns the bytes that the child reports before it ends; nothing, and `why`, if it reports none.
std::optional<double> heard(Child& child, std::string& why) {
  std::optional<double> bytes;
  std::string last_words;
  const auto take = [&](const std::string& line) {
    if (line.starts_with("{\"bytes\"")) bytes = json_number(parse_json(line, "worker"), "bytes");
  };
  hear_out(child, take, [&](const std::string& line) { last_words = printable(line, 200); });
  if (bytes && std::isfinite(*bytes) && *bytes > 0) return bytes;
  why = fmt::format("{}{}{}", child.ending(), last_words.empty() ? "" : ": ", last_words);
  return std::nullopt;
}

/// Parses the whole number at the beginning of the text, after blanks.
std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// Parses the number after a name at the beginning of a line.
std::optional<std::uint64_t> value_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return std::nullopt;
  return number_at(std::string_view(text).substr(text.find(name, at) + name.size()));
}

/// Reads a value of /proc/meminfo, which counts in KiB.
std::optional<std::uint64_t> bytes_of(const std::string& meminfo, const std::string& name) {
  const std::optional<std::uint64_t> kib = value_of(meminfo, name);
  if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

}  // namespace

template <class V>
void fields(V& v, TrialJob& job) {
  using Stage = TrialSlot::Stage;
  bool tunes = job.slot.stage == Stage::tune;
  v("number", job.slot.number), v("key", job.slot.key), v("folder", job.slot.folder);
  v("tune", tunes), v("rung", job.slot.rung), v("seed", job.slot.seed);
  v("values", job.slot.values), v("file", job.file), v("sets", job.sets);
  v("bits", job.identity.bits), v("clock", job.identity.clock);
  v("working", job.working), v("final", job.final_folder), v("simulated", job.simulated);
  v("fraction", job.fraction), v("replay_of", job.replay_of);
  v("goes_on_from", job.goes_on_from), v("keeps_state", job.keeps_state);
  v("keep_model", job.keep_model);
  if (V::reads) job.slot.stage = tunes ? Stage::tune : Stage::measure;
}

std::string to_line(const TrialJob& job) {
  return to_json(job).dump();
}

TrialJob job_of(const std::string& line) {
  TrialJob job;
  read_json(parse_json(line, "job"), "", job);
  return job;
}

TrialOutcome run_trial(const TrialJob& job,
                       const std::string& program,
                       const std::string& version,
                       const TrialProgress& progress) {
  const Fleet fleet = read_fleet(job.file, job.sets, nullptr);
  if (identity_of(fleet) != job.identity)
    return {false,
            fmt::format("{}, or the data that it names, are not what they were when the sweep was "
                        "started: start it again",
                        job.file)};
  return job.simulated ? simulate_trial(job, version, progress)
                       : real_trial(job, program, version, progress);
}

void publish_trial(const TrialJob& job, const TrialEnd& end, const std::string& summary) {
  write_whole(job.working + "/trial.json", trial_json(job.slot, end).dump(2) + "\n");
  write_whole(job.working + "/summary.json", summary.ends_with('\n') ? summary : summary + "\n");
  std::error_code error;
  fs::rename(job.working, job.final_folder, error);
  if (!error) return;
  if (!fs::exists(job.final_folder + "/summary.json"))
    throw std::runtime_error(fmt::format("{}: {}", job.final_folder, error.message()));
  fs::remove_all(job.working, error);
}

std::uint64_t rounds_in(double fraction, std::uint64_t rounds, std::uint64_t evaluate_every) {
  if (fraction >= 1 || evaluate_every == 0) return rounds;
  const double wanted = fraction * static_cast<double>(rounds);
  const double every = static_cast<double>(evaluate_every);
  const auto evaluations =
      static_cast<std::uint64_t>(std::max(1.0, std::ceil(wanted / every - 1e-9)));
  return std::min(rounds, evaluations * evaluate_every);
}

double memory_in_this_process(const Fleet& spec) {
  const Assembly fleet(spec);
  const double data = own_bytes();
  const std::unique_ptr<Objective> objective = fleet.evaluator();
  objective->evaluate(std::vector<float>(fleet.dimension, 0.01F));
  const double evaluation = std::max(0.0, own_bytes() - data);
  return bytes_in_rounds(fleet) + evaluation * fleet.fleet.trainers();
}

int tell_trial_memory() {
  std::string line;
  std::getline(std::cin, line);
  const TrialJob job = job_of(line);
  const double bytes = memory_in_this_process(read_fleet(job.file, job.sets, nullptr));
  fmt::print("{}\n", Json{{"bytes", bytes}}.dump());
  return 0;
}

std::size_t MemoryRoom::fitting(std::size_t wanted) const {
  if (!free_bytes || trial_bytes <= 0) return wanted;
  const double room = std::floor(0.9 * static_cast<double>(*free_bytes) / trial_bytes);
  return room >= static_cast<double>(wanted)
             ? wanted
             : std::max<std::size_t>(1, static_cast<std::size_t>(room));
}

std::string MemoryRoom::words() const {
  if (trial_bytes <= 0) return "what one trial takes could not be measured";
  const std::string one = fmt::format("one trial takes {}", bytes_text(trial_bytes));
  if (!free_bytes) return one + ", and how much is free is not known";
  return fmt::format("{}, and {} are free", one, bytes_text(static_cast<double>(*free_bytes)));
}

MemoryRoom memory_room(const SweepPlan& plan, const std::string& program) {
  MemoryRoom room;
  room.free_bytes = free_memory();
  const std::size_t n = plan.families.size();
  const std::size_t measured = std::min(n, most_measured);
  for (std::size_t k = 0; k < measured; ++k) {
    const SweepFamily& family = plan.families[k * n / measured];
    TrialJob job;
    job.file = plan.file.base;
    job.sets = plan.sets_of(family.cells[0], {}, plan.seeds[0]);
    Child child({program, "sweep", "--worker", "memory"});
    child.tell(to_line(job));
    if (const auto bytes = heard(child, room.unmeasured))
      room.trial_bytes = std::max(room.trial_bytes, *bytes);
  }
  return room;
}

std::optional<std::uint64_t> available_in(const std::string& meminfo) {
  return bytes_of(meminfo, "MemAvailable:");
}

std::optional<std::uint64_t> free_swap() {
  return bytes_of(text_of_file("/proc/meminfo"), "SwapFree:");
}

std::optional<std::uint64_t> left_in_group(const std::string& max,
                                           const std::string& current,
                                           const std::string& stat) {
  const std::optional<std::uint64_t> most = number_at(max);  // or "max", which means no limit
  const std::optional<std::uint64_t> taken = number_at(current);
  if (!most || !taken) return std::nullopt;
  const std::uint64_t idle = std::min(*taken, value_of(stat, "inactive_file ").value_or(0));
  const std::uint64_t held = *taken - idle;
  return *most > held ? *most - held : 0;
}

std::optional<std::uint64_t> free_memory() {
  std::optional<std::uint64_t> least = available_in(text_of_file("/proc/meminfo"));
  for (const std::string& folder : control_groups()) {
    const auto left =
        left_in_group(text_of_file(folder + "memory.max"), text_of_file(folder + "memory.current"),
                      text_of_file(folder + "memory.stat"));
    if (left) least = std::min(*left, least.value_or(*left));
  }
  return least;
}

}  // namespace gv
