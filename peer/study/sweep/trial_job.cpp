#include "peer/study/sweep/trial_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/process.h"
#include "peer/launch/run_record.h"
#include "peer/runtime/exit_code.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_json = 64U << 20;

/// A run that ends with this has a result, also where peers were lost on the way.
bool has_result(int code) {
  return code == exit_code::done || code == exit_code::peers_lost || code == exit_code::failed ||
         code == exit_code::check_failed;
}

/// The round in which the loss was not finite any more, as metrics.jsonl has it.
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

/// The run command itself, in a process of its own: it starts the peers and ends them.
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
      child,
      [&](const std::string& line) { tell_round(line, progress); },
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

}  // namespace

std::string to_line(const TrialJob& job) {
  Json values = Json::object();
  for (const auto& [axis, label] : job.slot.values) values[axis] = label;
  return Json{{"number", job.slot.number},
              {"key", job.slot.key},
              {"folder", job.slot.folder},
              {"tune", job.slot.stage == TrialSlot::Stage::tune},
              {"rung", job.slot.rung},
              {"seed", job.slot.seed},
              {"values", values},
              {"file", job.file},
              {"sets", job.sets},
              {"bits", job.identity.bits},
              {"clock", job.identity.clock},
              {"working", job.working},
              {"final", job.final_folder},
              {"simulated", job.simulated},
              {"fraction", job.fraction},
              {"replay_of", job.replay_of},
              {"goes_on_from", job.goes_on_from},
              {"keeps_state", job.keeps_state},
              {"keep_model", job.keep_model}}
      .dump();
}

TrialJob job_of(const std::string& line) {
  const JsonValue json = parse_json(line, "job");
  TrialJob job;
  job.slot.number = json_integer<std::size_t>(json, "number");
  job.slot.key = json_text(json, "key");
  job.slot.folder = json_text(json, "folder");
  job.slot.stage = json_boolean(json, "tune") ? TrialSlot::Stage::tune : TrialSlot::Stage::measure;
  job.slot.rung = json_integer<std::size_t>(json, "rung");
  job.slot.seed = json_integer<std::uint64_t>(json, "seed");
  for (const auto& [axis, label] : json_member(json, "values").members)
    job.slot.values[axis] = label.text;
  job.file = json_text(json, "file");
  for (const JsonValue& set : json_member(json, "sets").items) job.sets.push_back(set.text);
  job.identity = {json_text(json, "bits"), json_text(json, "clock")};
  job.working = json_text(json, "working");
  job.final_folder = json_text(json, "final");
  job.simulated = json_boolean(json, "simulated");
  job.fraction = json_number(json, "fraction");
  job.replay_of = json_text(json, "replay_of");
  job.goes_on_from = json_text(json, "goes_on_from");
  job.keeps_state = json_boolean(json, "keeps_state");
  job.keep_model = json_boolean(json, "keep_model");
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

}  // namespace gv
