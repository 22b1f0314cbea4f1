#include "tests/mutants/mutants.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/mutants/bad_replica.h"
#include "tests/mutants/bad_rules.h"
#include "tests/mutants/bad_world.h"

namespace gv::mutants {
namespace {

template <class Bad, class... Arguments>
PeerParts rules(Arguments... arguments) {
  PeerParts parts;
  parts.rules = [=] { return std::make_unique<Bad>(arguments...); };
  return parts;
}

PeerParts replica(Arithmetic bug) {
  PeerParts parts;
  parts.replica = [bug](std::unique_ptr<Replica> real) {
    return make_bad_replica(std::move(real), bug);
  };
  return parts;
}

PeerParts plan(void (*change)(Plan&)) {
  PeerParts parts;
  parts.change_plan = change;
  return parts;
}

PeerParts between(Interposed (*interpose)(World&, Journal&)) {
  PeerParts parts;
  parts.between = interpose;
  return parts;
}

std::vector<Mutant> of_peers() {
  return {
      {"drop_when_away", rules<Voids>(Missing::away)},
      {"drop_when_late", rules<Voids>(Missing::late)},
      {"own_degree", rules<OwnDegree>()},
      {"degree_of_now", rules<DegreeOfNow>()},
      {"late_against_x", replica(Arithmetic::late_against_x)},
      {"apply_late_twice", replica(Arithmetic::apply_late_twice)},
      {"drop_late_flow", replica(Arithmetic::drop_late_flow)},
      {"next_before_settled", rules<NextBeforeSettled>()},
      {"no_deadline_for_away", rules<Ignores>(Interruption::away)},
      {"ignore_passed", rules<Ignores>(Interruption::passed)},
      {"no_patience", rules<Ignores>(Interruption::patience)},
      {"leave_unsettled", rules<LeavesUnsettled>()},
      {"keep_numbers_of_the_dead", rules<Inherits>(Legacy{.numbers = true})},
      {"keep_exchange_of_the_dead", rules<Inherits>(Legacy{.exchange = true})},
      {"keep_mail_of_the_dead", rules<Inherits>(Legacy{.mail = true})},
      {"keep_sums_of_the_dead", rules<Inherits>(Legacy{.sums = true})},
      {"mix_what_is_not_finite", replica(Arithmetic::mix_not_finite)},
      {"quarantine_without_goodbye", between(quarantine_silently)},
      {"fetch_without_answer", between(answer_no_fetch)},
      {"fetch_what_is_not_finite", rules<TakesAnyModel>()},
      {"half_of_another_exchange", between(number_by_round)},
      {"ignore_interrupt", rules<IgnoresAll>()},
      {"no_beyond", rules<SaysNoBeyond>()},
      {"give_up_the_living",
       plan([](Plan& plan) { plan.standstill = std::chrono::milliseconds(100); })},
      {.name = "pair_against_x", .parts = replica(Arithmetic::late_against_x), .method = "ad-psgd"},
      {.name = "gradient_of_another_round",
       .parts = between(push_late),
       .method = "parameter-server"},
      {.name = "excuse_a_circle",
       .parts = rules<ExcusesCircles>(),
       .method = "fedavg",
       .deadline = std::chrono::milliseconds(50)},
      {.name = "own_bound", .parts = rules<OwnBound>(), .method = "d-psgd", .clips = true},
      {.name = "sum_that_is_forgotten", .parts = between(forget_a_sum), .method = "all-reduce"},
      {"no_pace", plan([](Plan& plan) { plan.keeps_pace = false; })},
      {.name = "silence_an_edge",
       .parts = between(silence_an_edge),
       .method = "d-psgd",
       .deadline = std::chrono::milliseconds(50)},
      {.name = "keep_the_oldest_push",
       .parts = rules<KeepsTheOldest>(),
       .method = "relay-sgd",
       .after_accidents = true},
      {.name = "deadline_of_each_push",
       .parts = rules<DeadlineOfEach>(),
       .method = "sgp",
       .after_accidents = true},
      {.name = "no_catching_up",
       .parts = plan([](Plan& plan) { plan.catch_up = false; }),
       .method = "sgp",
       .after_accidents = true},
  };
}

}  // namespace

const std::vector<Mutant>& all() {
  static const std::vector<Mutant> table = [] {
    std::vector<Mutant> mutants = of_peers();
    std::ranges::move(of_links(), std::back_inserter(mutants));
    return mutants;
  }();
  return table;
}

const PeerParts& parts_of(std::string_view name) {
  const auto at = std::ranges::find(all(), name, &Mutant::name);
  if (at == all().end()) throw std::invalid_argument("no mutant is called " + std::string(name));
  return at->parts;
}

}  // namespace gv::mutants
