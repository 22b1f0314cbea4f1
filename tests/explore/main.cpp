// Tries everything that may happen to fleets of two to four real peers: each order of messages and
// gradients, and each place of up to two faults. Exit code 1 if something is wrong.
//
//   grapevine-explore change                 fleets checked at every change
//   grapevine-explore night                  fleets checked every night
//   grapevine-explore planted                each planted mistake must be found
//   grapevine-explore ring 3 3 2 cf lian     one fleet: topology, peers, rounds, faults and their
//                                            kinds (cut, one-way, freeze, kill, start), order

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/explore/explorer.h"
#include "tests/mutants/bad_rules.h"

namespace gv::explore {
namespace {

constexpr bool lian = true, atc = false;

const std::vector<Shape> every_change = {
    {"path", 2, 4, lian, 1, "cofks"}, {"path", 2, 3, lian, 2, "cofks"},
    {"path", 2, 3, atc, 2, "cofks"},  {"path", 3, 2, lian, 1, "cofks"},
    {"path", 3, 3, atc, 1, "cf"},     {"ring", 3, 2, lian, 1, "cf"},
    {"ring", 3, 3, atc, 0, ""},       {"star", 4, 2, atc, 1, "c"},
};

const std::vector<Shape> every_night = {
    {"path", 2, 4, lian, 2, "cofks"}, {"path", 2, 5, atc, 2, "cofks"},
    {"path", 3, 3, lian, 1, "cofks"}, {"path", 3, 4, atc, 1, "cofks"},
    {"path", 3, 3, atc, 2, "cf"},     {"ring", 3, 2, lian, 1, "cofks"},
    {"ring", 3, 3, lian, 1, "c"},     {"ring", 3, 3, atc, 1, "cofks"},
    {"ring", 3, 2, atc, 2, "cf"},     {"path", 4, 2, atc, 1, "cofks"},
    {"star", 4, 2, atc, 1, "cofks"},  {"ring", 4, 2, atc, 1, "c"},
};

struct Planted {
  const char* name;
  std::function<std::unique_ptr<Rules>()> rules;
  Shape shape;
};

template <class Bad, class... Arguments>
std::function<std::unique_ptr<Rules>()> bad(Arguments... arguments) {
  return [=] { return std::make_unique<Bad>(arguments...); };
}

const std::vector<Planted> planted = {
    {"void alone when away", bad<mutants::Voids>(Missing::away), {"path", 2, 3, lian, 1, "c"}},
    {"void alone when late", bad<mutants::Voids>(Missing::late), {"path", 2, 3, lian, 1, "c"}},
    {"send while unmatched", bad<mutants::NextBeforeSettled>(), {"path", 2, 3, lian, 1, "c"}},
    {"no wait for older halves", bad<mutants::WaitsForNoOlder>(), {"path", 2, 6, lian, 1, "c"}},
    {"wait for the absent",
     bad<mutants::Ignores>(Interruption::away),
     {"path", 2, 3, lian, 1, "k"}},
    {"run alone without a rest", bad<mutants::RunsAhead>(), {"path", 2, 3, lian, 1, "c"}},
    {"leave without settling", bad<mutants::LeavesUnsettled>(), {"path", 2, 3, lian, 1, "c"}},
    {"numbers of the dead",
     bad<mutants::Inherits>(Legacy{.numbers = true}),
     {"path", 2, 3, lian, 1, "s"}},
    {"exchange of the dead",
     bad<mutants::Inherits>(Legacy{.exchange = true}),
     {"path", 2, 3, lian, 1, "s"}},
    {"mail of the dead",
     bad<mutants::Inherits>(Legacy{.mail = true}),
     {"path", 2, 3, lian, 1, "s"}},
};

std::string to_text(const Shape& shape) {
  return fmt::format("{} of {}, {} rounds, {} faults of {}, {}", shape.topology, shape.peers,
                     shape.rounds, shape.faults, shape.kinds.empty() ? "-" : shape.kinds,
                     shape.lian ? "lian" : "atc");
}

void print(const std::string& what, const Findings& found, double seconds) {
  fmt::print("{:<45} {:>9} states {:>10} steps {:>6} ends {:>6.1f} s{}{}\n", what, found.states,
             found.steps, found.ends, seconds, found.violation.empty() ? "" : ": ",
             found.violation);
  std::fflush(stdout);
}

Findings timed(const std::string& what, const Shape& shape, const Rules& rules) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  Findings found = explore(shape, rules);
  print(what, found, std::chrono::duration<double>(Clock::now() - began).count());
  return found;
}

int try_all(const std::vector<Shape>& shapes) {
  bool sound = true;
  for (const Shape& shape : shapes) {
    const Findings found = timed(to_text(shape), shape, documented_rules());
    for (const std::string& step : found.path) fmt::print("  {}\n", step);
    sound = sound && found.violation.empty();
  }
  return sound ? 0 : 1;
}

int find_planted() {
  int alive = 0;
  for (const Planted& each : planted)
    if (timed(each.name, each.shape, *each.rules()).violation.empty()) ++alive;
  fmt::print("{} of {} planted mistakes found\n", planted.size() - alive, planted.size());
  return alive == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gv::explore

int main(int argc, char** argv) {
  using namespace gv::explore;
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (argc == 2 && what == "change") return try_all(every_change);
  if (argc == 2 && what == "night") return try_all(every_night);
  if (argc == 2 && what == "planted") return find_planted();
  if (argc != 7) {
    fmt::print(stderr,
               "usage: grapevine-explore change | night | planted | "
               "TOPOLOGY PEERS ROUNDS FAULTS KINDS lian|atc\n");
    return 2;
  }
  return try_all({{argv[1], static_cast<gv::PeerId>(std::atoi(argv[2])),
                   static_cast<gv::Round>(std::atoi(argv[3])), std::string_view(argv[6]) == "lian",
                   static_cast<std::size_t>(std::atoi(argv[4])), argv[5]}});
}
