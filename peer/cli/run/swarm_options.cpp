#include "peer/cli/run/swarm_options.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/peer_plan.h"
#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"

namespace gv::cli {
namespace {

void print_healing_json(const Healing& h) {
  Json json{{"event", "healing"},
            {"accident", std::string(h.accident)},
            {"refused", h.refused},
            {"pace", h.pace},
            {"loss", h.after.loss},
            {"undisturbed_loss", h.before.loss},
            {"consensus", h.after.consensus},
            {"undisturbed_consensus", h.before.consensus},
            {"texts", h.failures}};
  console::print(json);
}

void print_healing(const Healing& h) {
  if (!h.refused.empty()) {
    fmt::print("{:<11} refused: {}\n", h.accident, h.refused);
    return;
  }
  fmt::print("{:<11} {:>5.2f} {:>10.4g} {:>10.4g} {:>11.3g} {:>11.3g}  {}\n", h.accident, h.pace,
             h.after.loss, h.before.loss, h.after.consensus, h.before.consensus,
             h.failures.empty() ? "healed" : "NOT HEALED");
  for (const std::string& failure : h.failures) fmt::print("            {}\n", failure);
}

/// Runs `simulate --faults heal`: one accident after the other, each in its own run.
int run_healing(const FleetOptions& file, std::uint64_t length_ms) {
  const Assembly fleet = assemble(file);
  HealingTimes times;
  times.length = std::chrono::milliseconds(length_ms);
  times.links = link_times(fleet.fleet.faults);
  if (!file.json)
    fmt::print("{:<11} {:>5} {:>10} {:>10} {:>11} {:>11}\n", "accident", "pace", "loss",
               "undisturbed", "consensus", "undisturbed");
  std::size_t failures = 0;
  heal(fleet.fleet, times, [&](const Healing& healing) {
    failures += healing.failures.size();
    file.json ? print_healing_json(healing) : print_healing(healing);
    std::fflush(stdout);
  });
  return failures == 0 ? exit_code::done : exit_code::check_failed;
}

/// Results of a swarm in the form of `simulate`. `seconds`: its duration.
Json swarm_json(const SwarmResult& result, double seconds);
void print_swarm(const SwarmResult& result, double seconds);

template <class Counts, class Names>
Json by_name(const Counts& counts, const Names& names) {
  Json json;
  for (std::size_t k = 0; k < counts.size(); ++k) json[std::string(names[k])] = counts[k];
  return json;
}

template <class Counts, class Names>
std::string text_of(const char* title, const Counts& counts, const Names& names) {
  constexpr std::size_t indent = 10;
  std::string text = title;
  for (std::size_t k = 0; k < counts.size(); ++k)
    text += fmt::format(" {}={}{}", names[k], counts[k], k + 1 < counts.size() ? "," : "");
  return wrapped(text, indent);
}

Json swarm_json(const SwarmResult& r, double seconds) {
  Json json{{"event", "swarm"},
            {"seeds", r.seeds},
            {"events", r.events},
            {"faults", r.sum_of_faults()},
            {"violations", r.violations},
            {"compared", r.compared},
            {"abandoned", r.abandoned},
            {"first_failing_seed", nullptr},
            {"by_class", by_name(r.faults, fault_names)},
            {"probes", by_name(r.probes, probe_names)},
            {"largest_drift", r.largest_drift},
            {"trace_hash", fmt::format("{:016x}", r.trace_hash)},
            {"seconds", seconds},
            {"texts", r.texts}};
  if (r.first_failing_seed) json["first_failing_seed"] = *r.first_failing_seed;
  return json;
}

void print_swarm(const SwarmResult& r, double seconds) {
  fmt::print("{} seeds in {}: {} events, {} faults, {} violations\n", r.seeds,
             seconds_text(seconds), r.events, r.sum_of_faults(), r.violations);
  fmt::print("{}\n{}\n", text_of("faults   ", r.faults, fault_names),
             text_of("probes   ", r.probes, probe_names));
  fmt::print("drift     {:.2e} of the mean at the most, relative\n", r.largest_drift);
  if (r.abandoned > 0)
    fmt::print("abandoned {} seeds in which too much happened: they are not judged\n", r.abandoned);
  if (r.compared > 0)
    fmt::print("bits      those of an undisturbed run in {} seeds in which all lived\n",
               r.compared);
}

constexpr std::uint64_t usual_until_ms = 500;

void print_first_failing(const SwarmResult& r,
                         const std::string& file,
                         const SwarmArguments& arguments) {
  if (!r.first_failing_seed) return;
  for (const std::string& text : r.texts) fmt::print("violation {}\n", text);
  std::string more;
  if (arguments.until_ms) more += fmt::format(" --faults-until {}", *arguments.until_ms);
  if (!arguments.only_faults.empty()) more += " --only-faults " + arguments.only_faults;
  fmt::print("replay    grapevine simulate {} --faults swarm --seed {}{}\n", shell_path(file),
             *r.first_failing_seed, more);
}

int run_swarm_of_file(const FleetOptions& file, const SwarmArguments& arguments) {
  const InterruptWatch interrupts;  // before anything computes
  const std::string seeds = arguments.seeds.empty() ? "1..100" : arguments.seeds;
  const auto [first, last] =
      arguments.seed ? SwarmRange(*arguments.seed, *arguments.seed) : parse_range("--seeds", seeds);
  const Assembly fleet = assemble(file);
  if (const std::string why = swarm_objection(fleet); !why.empty())
    throw std::invalid_argument(fmt::format("{}: {}", fleet.algorithm->kind, why));
  ProgressLine progress;
  SwarmOptions options;
  options.first = first;
  options.last = last;
  options.jobs = arguments.jobs;
  options.until = std::chrono::milliseconds(arguments.until_ms.value_or(usual_until_ms));
  options.classes = parse_faults(arguments.only_faults);
  if (arguments.seed && !file.json)
    options.trace = [](const std::string& line) { fmt::print("{}\n", line); };
  options.interrupted = [&] { return interrupts.code() != 0; };
  const std::uint64_t all = last - first + 1;
  options.on_progress = [&](std::uint64_t done) {
    progress.update(fmt::format("seed {}/{}", done, all));
  };
  const auto began = std::chrono::steady_clock::now();
  const SwarmResult result = swarm(fleet, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  progress.clear();
  if (file.json) {
    console::print(swarm_json(result, elapsed.count()));
  } else {
    print_swarm(result, elapsed.count());
    print_first_failing(result, file.file, arguments);
  }
  if (interrupts.code() != 0) return interrupts.code();
  return result.violations == 0 ? exit_code::done : exit_code::check_failed;
}

int run_healing_of_file(const FleetOptions& file, const SwarmArguments& arguments) {
  const std::string other = arguments.seeds.empty() ? option_of_swarm(arguments) : "--seeds";
  if (!other.empty())
    throw std::invalid_argument(
        fmt::format("simulate: {} draws faults, and --faults heal takes one after the other\n"
                    "help:  leave {} out, or take --faults swarm",
                    other, other));
  if (file.file.empty())
    throw std::invalid_argument(
        "simulate: --faults heal needs FILE\n"
        "help:  grapevine simulate configs/quadratic-ring16.yaml --faults heal");
  return run_healing(file, arguments.length_ms);
}

DrawOptions options_of(const FleetOptions& file, const SwarmArguments& arguments) {
  if (!file.file.empty() || !file.sets.empty())
    throw std::invalid_argument(
        "simulate: --fleets draws fleets, and takes no FILE and no --set\n"
        "help:  remove FILE and --set; --method restricts the fleets to one method");
  if (arguments.seed)
    throw std::invalid_argument(
        "simulate: --seed replays one fault seed of a FILE\n"
        "help:  save what --fleets printed as a file, and give it that");
  DrawOptions options;
  std::tie(options.first, options.last) = parse_range("--fleets", arguments.fleets);
  const std::string seeds = arguments.seeds.empty() ? "1..10" : arguments.seeds;
  std::tie(options.first_seed, options.last_seed) = parse_range("--seeds", seeds);
  if (options.last_seed >= most_seeds_of_a_fleet)
    throw std::invalid_argument(fmt::format("--seeds {}: a drawn fleet has fewer than {} seeds",
                                            seeds, most_seeds_of_a_fleet));
  if (!arguments.method.empty()) options.rows = rows_named(arguments.method);
  options.until_ms = arguments.until_ms;
  options.classes = parse_faults(arguments.only_faults);
  options.jobs = arguments.jobs;
  return options;
}

Json violation_json(const Violation& violation) {
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

void print_violation(const Violation& violation) {
  fmt::print("fleet {} of {} violates {} times{}\n", violation.fleet, violation.row,
             violation.violations, violation.shrunk ? ", and so does this smaller one" : "");
  fmt::print("# {}\n{}", command_of(violation.run, fmt::format("fleet-{}.yaml", violation.fleet)),
             fleet_text(violation.run.keys));
  for (const std::string& text : violation.texts) fmt::print("# violation {}\n", text);
  fmt::print("\n");
}

Json violation_json(const DrawResult& result, double seconds) {
  Json json = swarm_json(result.all, seconds);
  json["fleets"] = result.fleets;
  json["violating"] = result.violating;
  json["refusals"] = Json::members(result.refusals);
  json["violations_by"] = Json::members(result.violations_by);
  Json rows = Json::object();
  for (const auto& [row, count] : result.rows)
    rows.add(
        row,
        Json{{"fleets", count.fleets}, {"seeds", count.seeds}, {"violating", count.violating}});
  json["rows"] = rows;
  return json;
}

void print_violation(const DrawResult& result, double seconds) {
  print_swarm(result.all, seconds);
  fmt::print("fleets    {}, of which {} violate\n", result.fleets, result.violating);
  for (const auto& [row, count] : result.rows)
    fmt::print("          {:<26} {:>6} fleets {:>8} seeds {:>6} violate\n", row, count.fleets,
               count.seeds, count.violating);
  for (const auto& [key, count] : result.refusals)
    fmt::print("drawn again {} times for {}\n", count, key);
  for (const auto& [kind, count] : result.violations_by)
    fmt::print("violation {}: {} fleets\n", kind, count);
}

}  // namespace

void add_swarm_options(Options& options, SwarmArguments& arguments) {
  options
      .value("--faults", arguments.faults,
             "Kind of test under faults; exit 4 on a violation. swarm: run the fleet under random "
             "faults, once per seed, and check that averaging loses nothing and no peer waits "
             "forever. heal: inject one accident after another, and check that the fleet then "
             "becomes as fast and as accurate as before")
      .one_of({"swarm", "heal"});
  options
      .value("--seeds", arguments.seeds,
             "Range of fault seeds (default: 1..100, or 1..10 for each drawn fleet)")
      .call_values("A..B");
  options.value("--seed", arguments.seed,
                "With --faults: replay this fault seed and print every event");
  options
      .value("--faults-until", arguments.until_ms,
             "Virtual milliseconds after which all faults end (default: 500; a drawn fleet draws "
             "its own)")
      .call_values("MS");
  options
      .value("--only-faults", arguments.only_faults,
             "Kinds of fault to inject, separated by commas (default: all): " +
                 fmt::format("{}", fmt::join(fault_names, ", ")))
      .call_values("KIND,...");
  options
      .value("--faults-length", arguments.length_ms,
             "With --faults heal: virtual milliseconds that each accident lasts (default: 8000)")
      .range(1000, 20'000);
  options
      .value("--fleets", arguments.fleets,
             "With --faults, instead of FILE: range of drawn fleets, of all methods. A violation "
             "is printed as a fleet file that is made as small as possible")
      .call_values("A..B");
  options
      .value("--method", arguments.method,
             "With --fleets: draw only fleets of this method, such as d-psgd:atc")
      .call_values("KIND[:ORDER]");
  options
      .value("--jobs", arguments.jobs,
             "Number of seeds or fleets to run in parallel; 0: the number of cores")
      .range(0, 1024);
}

std::string option_of_swarm(const SwarmArguments& arguments) {
  if (arguments.seed) return "--seed";
  if (!arguments.fleets.empty()) return "--fleets";
  if (!arguments.method.empty()) return "--method";
  if (!arguments.only_faults.empty()) return "--only-faults";
  return "";
}

SwarmRange parse_range(const char* name, const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto number = [&](std::string_view word) {
    if (const auto value = as_number<std::uint64_t>(word)) return *value;
    throw std::invalid_argument(
        fmt::format("{} {}: write one number or a range, such as 1..1000", name, text));
  };
  const std::string_view all = text;
  if (dots == std::string::npos) return {number(all), number(all)};
  const SwarmRange range{number(all.substr(0, dots)), number(all.substr(dots + 2))};
  if (range.first > range.second)
    throw std::invalid_argument(fmt::format("{} {}: the range is empty", name, text));
  return range;
}

FaultClasses parse_faults(const std::string& names) {
  if (names.empty()) return all_faults;
  FaultClasses classes = 0;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const auto at = std::ranges::find(fault_names, name);
    if (at == fault_names.end())
      throw std::invalid_argument(
          fmt::format("--only-faults: no fault is called `{}`\n"
                      "help:  {}",
                      name, fmt::join(fault_names, ", ")));
    classes |= FaultClasses{1} << (at - fault_names.begin());
    begin = end + 1;
  }
  return classes;
}

int run_swarm(const FleetOptions& file, const SwarmArguments& arguments) {
  if (arguments.faults == "heal") return run_healing_of_file(file, arguments);
  if (!arguments.fleets.empty()) return run_drawn_swarm(file, arguments);
  if (!arguments.method.empty())
    throw std::invalid_argument(
        "simulate: --method selects the method of drawn fleets, and needs --fleets\n"
        "help:  --set algorithm.kind=KIND gives the fleet of a file another one");
  if (file.file.empty())
    throw std::invalid_argument(
        "simulate: --faults swarm needs FILE, or --fleets A..B, which draws fleets\n"
        "help:  grapevine simulate --faults swarm --fleets 1..1000");
  return run_swarm_of_file(file, arguments);
}

// Runs simulate --faults swarm --fleets A..B.

int run_drawn_swarm(const FleetOptions& file, const SwarmArguments& arguments) {
  const InterruptWatch interrupts;  // before anything computes
  DrawOptions options = options_of(file, arguments);
  ProgressLine progress;
  options.interrupted = [&] { return interrupts.code() != 0; };
  options.on_violation = [&](const Violation& violation) {
    progress.clear();
    file.json ? console::print(violation_json(violation)) : print_violation(violation);
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
    console::print(violation_json(result, elapsed.count()));
  else
    print_violation(result, elapsed.count());
  if (interrupts.code() != 0) return interrupts.code();
  return result.violating == 0 ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
