#include "peer/cli/swarm_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/healing_options.h"
#include "peer/cli/swarm_text.h"
#include "peer/launch/stop_signals.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

constexpr std::uint64_t usual_until_ms = 500;

void print_first_failing(const SwarmResult& r,
                         const std::string& file,
                         const SwarmArguments& arguments) {
  if (!r.first_failing_seed) return;
  for (const std::string& text : r.texts) fmt::print("violation {}\n", text);
  std::string more;
  if (arguments.until_ms) more += fmt::format(" --faults-until {}", *arguments.until_ms);
  if (!arguments.only_faults.empty()) more += " --only-faults " + arguments.only_faults;
  fmt::print("replay    grapevine simulate {} --faults swarm --seed {}{}\n",
             shell_word(file),
             *r.first_failing_seed,
             more);
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
    fmt::print("{}\n", swarm_json(result, elapsed.count()).dump());
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
                    other,
                    other));
  if (file.file.empty())
    throw std::invalid_argument(
        "simulate: --faults heal needs FILE\n"
        "help:  grapevine simulate configs/quadratic-ring16.yaml --faults heal");
  return run_healing(file, arguments.length_ms);
}

}  // namespace

void add_swarm_options(Options& options, SwarmArguments& arguments) {
  options
      .value("--faults",
             arguments.faults,
             "Kind of test under faults; exit 4 on a violation. swarm: run the fleet under random "
             "faults, once per seed, and check that averaging loses nothing and no peer waits "
             "forever. heal: inject one accident after another, and check that the fleet then "
             "becomes as fast and as accurate as before")
      .one_of({"swarm", "heal"});
  options
      .value("--seeds",
             arguments.seeds,
             "Range of fault seeds (default: 1..100, or 1..10 for each drawn fleet)")
      .call_values("A..B");
  options.value(
      "--seed", arguments.seed, "With --faults: replay this fault seed and print every event");
  options
      .value("--faults-until",
             arguments.until_ms,
             "Virtual milliseconds after which all faults end (default: 500; a drawn fleet draws "
             "its own)")
      .call_values("MS");
  options
      .value("--only-faults",
             arguments.only_faults,
             "Kinds of fault to inject, separated by commas (default: all): " +
                 fmt::format("{}", fmt::join(fault_names, ", ")))
      .call_values("KIND,...");
  options
      .value("--faults-length",
             arguments.length_ms,
             "With --faults heal: virtual milliseconds that each accident lasts (default: 8000)")
      .range(1000, 20'000);
  options
      .value("--fleets",
             arguments.fleets,
             "With --faults, instead of FILE: range of drawn fleets, of all methods. A violation "
             "is printed as a fleet file that is made as small as possible")
      .call_values("A..B");
  options
      .value("--method",
             arguments.method,
             "With --fleets: draw only fleets of this method, such as d-psgd:atc")
      .call_values("KIND[:ORDER]");
  options
      .value("--jobs",
             arguments.jobs,
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
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      throw std::invalid_argument(
          fmt::format("{} {}: write one number or a range, such as 1..1000", name, text));
    return value;
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
                      name,
                      fmt::join(fault_names, ", ")));
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
        "simulate: --method says of which method fleets are drawn, and needs --fleets\n"
        "help:  --set algorithm.kind=KIND gives the fleet of a file another one");
  if (file.file.empty())
    throw std::invalid_argument(
        "simulate: --faults swarm needs FILE, or --fleets A..B, which draws fleets\n"
        "help:  grapevine simulate --faults swarm --fleets 1..1000");
  return run_swarm_of_file(file, arguments);
}

}  // namespace gv::cli
