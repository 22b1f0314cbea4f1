// Tests the tests: puts one deliberate bug at a time into the protocol (mutants.h); the swarm must
// find it. Exit code 1 if a bug survives, or if the protocol without a bug fails. With arguments:
// only the bugs with these names. `--odd`, `--even`: every second bug, and not the protocol without
// one. `--drawn`: the swarm draws its fleets. Bugs that show after accidents are always hunted in
// drawn fleets.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"
#include "tests/mutants/mutants.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/brisk_times.h"

namespace gv {
namespace {

constexpr std::uint64_t most_seeds = 2000;
constexpr std::uint64_t seeds_at_a_time = 20;
constexpr std::uint64_t most_drawn = 500;
constexpr std::string_view protocol = "none";  ///< the protocol without a bug

/// Returns fleets that wait for a living neighbour for at most 50 ms, and fleets without a limit.
std::vector<Fleet> fleets() {
  Fleet patient = restless_fleet(3, "ring", "lian");
  patient.faults.deadline = Time{0};
  // Exchanges whose ends begin in different rounds.
  Fleet matching = restless_fleet(6, "base:k=1", "lian");
  matching.faults.deadline = Time{0};
  // Each end's estimate of the other is the sum of all messages sent.
  Fleet compressed = restless_fleet(6, "ring", "");
  compressed.algorithm = "choco-sgd";
  compressed.codec = Codec{.kind = Codec::Kind::int8};
  // Unequal degrees, and halves that are applied at once.
  return {restless_fleet(6, "small-world:k=4,beta=0.5,seed=2", "atc"), patient, matching,
          compressed};
}

/// Returns the fleet in which to hunt a bug of one method.
Fleet fleet_of(const mutants::Mutant& mutant) {
  Fleet fleet = restless_fleet(mutant.peers, std::string(mutant.topology), "");
  fleet.algorithm = mutant.method;
  fleet.order = find_algorithm(mutant.method, "")->order;
  fleet.faults.deadline = mutant.deadline;
  if (mutant.clips) fleet.clip = 0;
  return fleet;
}

struct Verdict {
  std::optional<std::uint64_t> seed;  ///< first seed that finds the mutant
  std::uint64_t seeds = 0;            ///< number of seeds tried
  std::string text;
};

Verdict hunt(const std::vector<Fleet>& fleets, const mutants::Mutant& mutant) {
  const std::vector<Assembly> assemblies(fleets.begin(), fleets.end());
  Verdict verdict;
  for (std::uint64_t first = 1; first <= most_seeds; first += seeds_at_a_time) {
    for (const Assembly& fleet : assemblies) {
      SwarmOptions options;
      options.first = first;
      options.last = first + seeds_at_a_time - 1;
      options.parts = mutant.parts;
      options.links = mutant.links;
      const SwarmResult result = swarm(fleet, options);
      verdict.seeds += result.seeds;
      if (!result.first_failing_seed) continue;
      verdict.seed = result.first_failing_seed;
      verdict.text = result.texts.front();
      return verdict;
    }
  }
  return verdict;
}

DrawOptions fleets_to_draw(const mutants::Mutant& mutant) {
  DrawOptions options;
  options.last = most_drawn;
  if (!mutant.method.empty()) options.rows = rows_named(std::string(mutant.method));
  options.shrink = false;
  return options;
}

/// Returns whether a drawn fleet without the bug violates nothing; otherwise it proves nothing.
bool passes(std::uint64_t fleet, const mutants::Mutant& mutant) {
  DrawOptions options = fleets_to_draw(mutant);
  options.first = options.last = fleet;
  return swarm_of_drawn(options).violating == 0;
}

/// Hunts in drawn fleets, of the bug's method or of all. The verdict's seed is the fleet's number.
Verdict hunt_in_drawn(const mutants::Mutant& mutant) {
  Verdict verdict;
  std::atomic<bool> found = false;
  DrawOptions options = fleets_to_draw(mutant);
  options.parts = mutant.parts;
  options.links = mutant.links;
  options.interrupted = [&] { return found.load(); };
  options.on_violation = [&](const Violation& violation) {
    if (found || (mutant.name != protocol && !passes(violation.fleet, mutant))) return;
    found = true;
    verdict.seed = violation.fleet;
    verdict.text = violation.row + ": " + violation.texts.front();
  };
  verdict.seeds = swarm_of_drawn(options).all.seeds;
  return verdict;
}

/// Returns the damage that remains after an accident with the bug, but heals without it; "" if
/// none. A loss alone is no proof: in a finished fleet it may be rounding.
std::string wound_of(const Fleet& fleet, const mutants::Mutant& mutant) {
  const auto wounded = [](const Healing& healing) {
    return !healing.failures.empty() && !healing.failures.front().starts_with("a loss");
  };
  const std::vector<Healing> with = heal(fleet, brisk_times(), {}, mutant.parts);
  if (std::ranges::none_of(with, wounded)) return "";
  const std::vector<Healing> without = heal(fleet, brisk_times());
  for (std::size_t k = 0; k < with.size(); ++k)
    if (wounded(with[k]) && !wounded(without[k]))
      return fmt::format("{}: {}", with[k].accident, with[k].failures.front());
  return "";
}

/// Hunts in drawn fleets of its method, after accidents. The verdict's seed is the fleet's number.
Verdict hunt_after_accidents(const mutants::Mutant& mutant) {
  Verdict verdict;
  const std::vector<const AlgorithmRow*> rows = rows_named(std::string(mutant.method));
  Refusals refusals;
  for (std::uint64_t number = 1; number <= most_drawn; ++number) {
    const ReadyFleet ready = draw_ready(number, rows, refusals);
    ++verdict.seeds;
    verdict.text = wound_of(ready.fleet->fleet, mutant);
    if (verdict.text.empty()) continue;
    verdict.seed = number;
    break;
  }
  return verdict;
}

/// Hunts in a separate process, because a bug may end it.
Verdict hunt_apart(const std::function<Verdict()>& hunt) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    const Verdict v = hunt();
    const std::string line = fmt::format("{} {} {}", v.seed.value_or(0), v.seeds, v.text);
    const bool written = ::write(ends[1], line.data(), line.size()) > 0;
    std::_Exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<char, 1024> text{};
  const ssize_t length = ::read(ends[0], text.data(), text.size() - 1);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (length <= 0) return {.seed = 0, .seeds = 0, .text = "ends the program"};
  std::istringstream in(std::string(text.data(), static_cast<std::size_t>(length)));
  Verdict verdict;
  std::uint64_t seed = 0;
  in >> seed >> verdict.seeds >> std::ws;
  if (seed != 0) verdict.seed = seed;
  std::getline(in, verdict.text);
  return verdict;
}

/// Prints the verdict; returns whether it is as expected.
bool judge(std::string_view name, const Verdict& verdict) {
  const bool expected = verdict.seed.has_value() == (name != protocol);
  fmt::print(
      "{:<28} {:<10} {}\n", name,
      verdict.seed ? fmt::format("seed {}", *verdict.seed) : fmt::format("{} seeds", verdict.seeds),
      verdict.seed ? verdict.text : (expected ? "nothing to find" : "IT LIVES"));
  std::fflush(stdout);
  return expected;
}

/// Returns every second bug that shows during faults, starting at index `first`.
std::vector<mutants::Mutant> half(std::size_t first) {
  std::vector<mutants::Mutant> all = mutants::all();
  std::erase_if(all, &mutants::Mutant::after_accidents);
  std::vector<mutants::Mutant> chosen;
  for (std::size_t k = first; k < all.size(); k += 2) chosen.push_back(all[k]);
  return chosen;
}

/// Returns the bugs with these names; without names, all bugs and the protocol without one.
std::vector<mutants::Mutant> chosen(const std::set<std::string_view>& names) {
  if (names.contains("--odd")) return half(0);
  if (names.contains("--even")) return half(1);
  std::vector<mutants::Mutant> chosen{{.name = protocol}};
  std::ranges::copy(mutants::all(), std::back_inserter(chosen));
  if (!names.empty())
    std::erase_if(chosen, [&](const mutants::Mutant& each) { return !names.contains(each.name); });
  return chosen;
}

int run(std::set<std::string_view> names) {
  const bool drawn = names.erase("--drawn") > 0;
  const auto hunt_for = [&](const mutants::Mutant& mutant) {
    if (mutant.after_accidents) return hunt_after_accidents(mutant);
    if (drawn) return hunt_in_drawn(mutant);
    return hunt(mutant.method.empty() ? fleets() : std::vector<Fleet>{fleet_of(mutant)}, mutant);
  };
  int wrong = 0;
  for (const mutants::Mutant& mutant : chosen(names))
    if (!judge(mutant.name, hunt_apart([&] { return hunt_for(mutant); }))) ++wrong;
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gv

int main(int argc, char** argv) {
  return gv::run({argv + 1, argv + argc});
}
