#include "peer/study/sweep/trial_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/process.h"
#include "peer/record/report/screen.h"
#include "peer/sim/simulation.h"
#include "peer/study/sweep/free_memory.h"
#include "peer/study/sweep/trial_job.h"

namespace gv {
namespace {

constexpr std::size_t most_measured = 6;  ///< families; the largest counts
constexpr Round measured_rounds = 2;      ///< in the second, all buffers are there

/// Memory of this process that no other one shares: proc(5), /proc/pid/status.
double own_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kib = 0;
    if (word == "RssAnon:" && in >> kib) return kib * 1024;
  }
  return 0;
}

/// Thrown to leave a simulation of which enough was seen.
struct SeenEnough {};

/// The most that it takes in its first rounds, on one thread as in a worker.
double bytes_in_rounds(const Assembly& fleet) {
  double most = 0;
  SimulationOptions options;
  options.threads = 1;
  options.rounds = std::min<Round>(fleet.rounds, 1'000'000'000);  // without evaluations
  options.on_progress = [&](Round round, Time) {
    most = std::max(most, own_bytes());
    if (round >= measured_rounds) throw SeenEnough{};
  };
  // It waits for one report more than there are peers, so it never looks at models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  try {
    simulate(fleet, blind, options);
  } catch (const SeenEnough&) {
  }
  return std::max(most, own_bytes());
}

/// Hears what the child tells, until it ends; nothing, and `why`, where it tells no number.
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

}  // namespace

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

}  // namespace gv
