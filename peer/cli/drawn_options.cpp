#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "peer/cli/swarm_options.h"
#include "peer/cli/swarm_text.h"
#include "peer/launch/stop_signals.h"
#include "peer/record/report/screen.h"
#include "peer/sim/drawn/shrink.h"

// simulate --faults swarm --fleets A..B.

namespace gv::cli {
namespace {

DrawOptions options_of(const FleetOptions& file, const SwarmArguments& arguments) {
  if (!file.file.empty() || !file.sets.empty())
    throw std::invalid_argument(
        "simulate: --fleets draws fleets, and takes no FILE and no --set\n"
        "help:  --method restricts it to one method");
  if (arguments.seed)
    throw std::invalid_argument(
        "simulate: --seed replays one fault seed of a FILE\n"
        "help:  save what --fleets printed as a file, and give it that");
  DrawOptions options;
  std::tie(options.first, options.last) = parse_range("--fleets", arguments.fleets);
  const std::string seeds = arguments.seeds.empty() ? "1..10" : arguments.seeds;
  std::tie(options.first_seed, options.last_seed) = parse_range("--seeds", seeds);
  if (options.last_seed >= most_seeds_of_a_fleet)
    throw std::invalid_argument(fmt::format(
        "--seeds {}: a drawn fleet has fewer than {} seeds", seeds, most_seeds_of_a_fleet));
  if (!arguments.method.empty()) options.rows = rows_named(arguments.method);
  options.until_ms = arguments.until_ms;
  options.classes = parse_faults(arguments.only_faults);
  options.jobs = arguments.jobs;
  return options;
}

Json json_of(const Violation& violation) {
  return Json{{"event", "violation"},
              {"fleet", violation.fleet},
              {"method", violation.row},
              {"violations", violation.violations},
              {"shrunk", violation.shrunk},
              {"seed", violation.run.seed},
              {"faults_until", violation.run.until_ms},
              {"texts", violation.texts},
              {"command", command_of(violation.run, "FILE")},
              {"file", fleet_text(violation.run.keys)}};
}

void print_text(const Violation& violation) {
  fmt::print("fleet {} of {} violates {} times{}\n",
             violation.fleet,
             violation.row,
             violation.violations,
             violation.shrunk ? ", and so does this smaller one" : "");
  fmt::print("# {}\n{}",
             command_of(violation.run, fmt::format("fleet-{}.yaml", violation.fleet)),
             fleet_text(violation.run.keys));
  for (const std::string& text : violation.texts) fmt::print("# violation {}\n", text);
  fmt::print("\n");
}

Json by_key(const std::map<std::string, std::uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [key, count] : counts) json.add(key, count);
  return json;
}

Json json_of(const DrawResult& result, double seconds) {
  Json json = swarm_json(result.all, seconds);
  json["fleets"] = result.fleets;
  json["violating"] = result.violating;
  json["refusals"] = by_key(result.refusals);
  json["violations_by"] = by_key(result.violations_by);
  Json rows = Json::object();
  for (const auto& [row, count] : result.rows)
    rows.add(
        row,
        Json{{"fleets", count.fleets}, {"seeds", count.seeds}, {"violating", count.violating}});
  json["rows"] = rows;
  return json;
}

void print_text(const DrawResult& result, double seconds) {
  print_swarm(result.all, seconds);
  fmt::print("fleets    {}, of which {} violate\n", result.fleets, result.violating);
  for (const auto& [row, count] : result.rows)
    fmt::print("          {:<26} {:>6} fleets {:>8} seeds {:>6} violate\n",
               row,
               count.fleets,
               count.seeds,
               count.violating);
  for (const auto& [key, count] : result.refusals)
    fmt::print("drawn again {} times for {}\n", count, key);
  for (const auto& [kind, count] : result.violations_by)
    fmt::print("violation {}: {} fleets\n", kind, count);
}

}  // namespace

int run_drawn_swarm(const FleetOptions& file, const SwarmArguments& arguments) {
  const InterruptWatch interrupts;  // before anything computes
  DrawOptions options = options_of(file, arguments);
  ProgressLine progress;
  options.interrupted = [&] { return interrupts.code() != 0; };
  options.on_violation = [&](const Violation& violation) {
    progress.clear();
    file.json ? fmt::print("{}\n", json_of(violation).dump()) : print_text(violation);
    std::fflush(stdout);
  };
  const std::uint64_t all = options.last - options.first + 1;
  options.on_progress = [&](std::uint64_t done) {
    progress.update(fmt::format("fleet {}/{}", done, all));
  };
  const auto began = std::chrono::steady_clock::now();
  const DrawResult result = swarm_of_drawn(options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  progress.clear();
  if (file.json)
    fmt::print("{}\n", json_of(result, elapsed.count()).dump());
  else
    print_text(result, elapsed.count());
  if (interrupts.code() != 0) return interrupts.code();
  return result.violating == 0 ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
