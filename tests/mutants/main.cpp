// Tests the tests: builds one deliberate bug after the other into the protocol (mutants.h) and asks
// the swarm to find it. Exit code 1 when one lives, or when the protocol without a bug fails. With
// arguments: only the bugs of these names.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/sim/swarm.h"
#include "tests/mutants/mutants.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

constexpr std::uint64_t most_seeds = 2000;
constexpr std::uint64_t seeds_at_a_time = 20;

/// One fleet that waits for a living neighbour for 50 ms, one that does so without end.
std::vector<Fleet> fleets() {
  Fleet patient = restless_fleet(3, "ring", "lian");
  patient.faults.deadline = Time{0};
  // Exchanges that begin in different rounds at their ends.
  Fleet matching = restless_fleet(6, "base:k=1", "lian");
  matching.faults.deadline = Time{0};
  // What both ends know of each other is a sum of all that was sent.
  Fleet compressed = restless_fleet(6, "ring", "");
  compressed.algorithm = "choco-sgd";
  compressed.codec = Codec{.kind = Codec::Kind::int8};
  // Unequal degrees, and halves that are applied at once.
  return {
      restless_fleet(6, "small-world:k=4,beta=0.5,seed=2", "atc"), patient, matching, compressed};
}

/// What a bug of one method is looked for in.
Fleet fleet_of(const mutants::Mutant& mutant) {
  Fleet fleet = restless_fleet(6, "ring", "");
  fleet.algorithm = mutant.method;
  fleet.order = find_algorithm(mutant.method, "")->order;
  fleet.faults.deadline = mutant.deadline;
  if (mutant.clips) fleet.clip = 0;
  return fleet;
}

struct Verdict {
  std::optional<std::uint64_t> seed;  ///< the first that finds the mutant
  std::uint64_t seeds = 0;            ///< tried in all
  std::string text;
};

Verdict hunt(const std::vector<Assembly*>& assemblies, const mutants::Mutant& mutant) {
  Verdict verdict;
  for (std::uint64_t first = 1; first <= most_seeds; first += seeds_at_a_time) {
    for (const Assembly* fleet : assemblies) {
      SwarmOptions options;
      options.first = first;
      options.last = first + seeds_at_a_time - 1;
      options.parts = mutant.parts;
      options.links = mutant.links;
      const SwarmResult result = swarm(*fleet, options);
      verdict.seeds += result.seeds;
      if (!result.first_failing_seed) continue;
      verdict.seed = result.first_failing_seed;
      verdict.text = result.texts.front();
      return verdict;
    }
  }
  return verdict;
}

/// In a process of its own: a bug may also end it.
Verdict hunt_apart(const std::vector<Assembly*>& assemblies, const mutants::Mutant& mutant) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    const Verdict v = hunt(assemblies, mutant);
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

/// Whether the verdict is as it should be; says what it is.
bool judge(std::string_view name, const Verdict& verdict) {
  const bool expected = verdict.seed.has_value() == (name != "none");
  fmt::print(
      "{:<28} {:<10} {}\n",
      name,
      verdict.seed ? fmt::format("seed {}", *verdict.seed) : fmt::format("{} seeds", verdict.seeds),
      verdict.seed ? verdict.text : (expected ? "nothing to find" : "IT LIVES"));
  std::fflush(stdout);
  return expected;
}

int run(const std::set<std::string_view>& only) {
  std::vector<std::unique_ptr<Assembly>> owned;
  std::vector<Assembly*> assemblies;
  for (const Fleet& fleet : fleets()) {
    owned.push_back(std::make_unique<Assembly>(fleet));
    assemblies.push_back(owned.back().get());
  }
  int wrong = 0;
  const auto try_one = [&](const mutants::Mutant& mutant) {
    if (!only.empty() && !only.contains(mutant.name)) return;
    if (mutant.method.empty()) {
      if (!judge(mutant.name, hunt_apart(assemblies, mutant))) ++wrong;
      return;
    }
    Assembly own(fleet_of(mutant));
    const std::vector<Assembly*> alone(1, &own);
    if (!judge(mutant.name, hunt_apart(alone, mutant))) ++wrong;
  };
  try_one({.name = "none"});
  for (const mutants::Mutant& mutant : mutants::all()) try_one(mutant);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gv

int main(int argc, char** argv) {
  return gv::run({argv + 1, argv + argc});
}
