#include "peer/cli/swarm_options.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/json/json.h"
#include "peer/report/screen.h"
#include "peer/report/wrapped.h"
#include "peer/sim/swarm.h"

namespace gv::cli {
namespace {

/// "7" or "1..1000".
std::pair<std::uint64_t, std::uint64_t> parse_seeds(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto number = [&](std::string_view word) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      throw std::invalid_argument(
          fmt::format("--seeds {}: write one seed or a range, such as 1..1000", text));
    return value;
  };
  const std::string_view all = text;
  if (dots == std::string::npos) return {number(all), number(all)};
  const std::pair range{number(all.substr(0, dots)), number(all.substr(dots + 2))};
  if (range.first > range.second)
    throw std::invalid_argument(fmt::format("--seeds {}: the range is empty", text));
  return range;
}

template <class Counts, class Names>
Json by_name(const Counts& counts, const Names& names) {
  Json json;
  for (std::size_t k = 0; k < counts.size(); ++k) json[std::string(names[k])] = counts[k];
  return json;
}

void print_json(const SwarmResult& r, double seconds) {
  Json json{{"event", "swarm"},
            {"seeds", r.seeds},
            {"events", r.events},
            {"faults", r.all_faults()},
            {"violations", r.violations},
            {"compared", r.compared},
            {"first_failing_seed", nullptr},
            {"by_class", by_name(r.faults, fault_names)},
            {"probes", by_name(r.probes, probe_names)},
            {"largest_drift", r.largest_drift},
            {"trace_hash", fmt::format("{:016x}", r.trace_hash)},
            {"seconds", seconds},
            {"texts", r.texts}};
  if (r.first_failing_seed) json["first_failing_seed"] = *r.first_failing_seed;
  fmt::print("{}\n", json.dump());
}

void print_text(const SwarmResult& r, double seconds, const std::string& file) {
  fmt::print("{} seeds in {}: {} events, {} faults, {} violations\n",
             r.seeds,
             seconds_text(seconds),
             r.events,
             r.all_faults(),
             r.violations);
  std::string faults = "faults   ", probes = "probes   ";
  for (std::size_t k = 0; k < r.faults.size(); ++k)
    faults +=
        fmt::format(" {}={}{}", fault_names[k], r.faults[k], k + 1 < r.faults.size() ? "," : "");
  for (std::size_t k = 0; k < r.probes.size(); ++k)
    probes +=
        fmt::format(" {}={}{}", probe_names[k], r.probes[k], k + 1 < r.probes.size() ? "," : "");
  constexpr std::size_t indent = 10;
  fmt::print("{}\n{}\n", wrapped(faults, indent), wrapped(probes, indent));
  fmt::print("drift     {:.2e} of the mean at the most, relative\n", r.largest_drift);
  if (r.compared > 0)
    fmt::print("bits      those of an undisturbed run in {} seeds in which all lived\n",
               r.compared);
  if (!r.first_failing_seed) return;
  for (const std::string& text : r.texts) fmt::print("violation {}\n", text);
  fmt::print(
      "replay    grapevine simulate {} --faults swarm --seed {}\n", file, *r.first_failing_seed);
}

}  // namespace

void add_swarm_options(Options& options, SwarmArguments& arguments) {
  options
      .value("--faults",
             arguments.faults,
             "swarm: run the fleet under random faults, once for each seed, and check that "
             "averaging loses nothing and nobody waits for ever; exit 4 on a violation")
      .one_of({"swarm"});
  options.value("--seeds", arguments.seeds, "Fault seeds: A..B").show_default();
  options.value(
      "--seed", arguments.seed, "With --faults: replay one fault seed and print all that happens");
  options.value("--faults-until", arguments.until_ms, "Virtual milliseconds; then all heals")
      .range(1, 1'000'000)
      .show_default();
  options.value("--jobs", arguments.jobs, "Seeds at a time; 0: all cores").range(0, 1024);
}

int run_swarm(const FleetOptions& file, const SwarmArguments& arguments) {
  const auto [first, last] =
      arguments.seed ? std::pair(*arguments.seed, *arguments.seed) : parse_seeds(arguments.seeds);
  const Assembly fleet = assemble(file);
  if (const std::string why = swarm_objection(fleet); !why.empty())
    throw std::invalid_argument(fmt::format("{}: {}", fleet.algorithm->kind, why));
  ProgressLine progress;
  SwarmOptions options;
  options.first = first;
  options.last = last;
  options.jobs = arguments.jobs;
  options.until = std::chrono::milliseconds(arguments.until_ms);
  if (arguments.seed && !file.json)
    options.trace = [](const std::string& line) { fmt::print("{}\n", line); };
  const std::uint64_t seeds = last - first + 1;
  options.on_progress = [&](std::uint64_t done) {
    progress.update(fmt::format("seed {}/{}", done, seeds));
  };
  const auto began = std::chrono::steady_clock::now();
  const SwarmResult result = swarm(fleet, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  progress.clear();
  if (file.json) {
    print_json(result, elapsed.count());
  } else {
    print_text(result, elapsed.count(), file.file);
  }
  return result.violations == 0 ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
