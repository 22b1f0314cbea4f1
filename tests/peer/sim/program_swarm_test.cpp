#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "peer/sim/drawn/fleet_draw.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/program_peers.h"

// Programs under drawn faults, in drawn fleets.

namespace gv {
namespace {

/// A bug in the program.
enum class Mistake : std::uint8_t { none, forgets_its_state, steps_twice, keeps_x };

class MistakenProgram : public InnerProgramReplica {
 public:
  MistakenProgram(std::unique_ptr<Replica> inner, Mistake mistake)
      : InnerProgramReplica(std::move(inner)), mistake_(mistake) {}

  void restore(StateReader& in) override {
    if (mistake_ != Mistake::forgets_its_state) return InnerProgramReplica::restore(in);
    ProgramReplica::restore(in);
    static_cast<void>(take_restored());
  }
  void step() override {
    InnerProgramReplica::step();
    if (mistake_ == Mistake::steps_twice && ++steps_ % 5 == 0) InnerProgramReplica::step();
  }
  void load(Vector v, Range r, const Buffer& in) override {
    if (mistake_ != Mistake::keeps_x || v != Vector::x) InnerProgramReplica::load(v, r, in);
  }

 private:
  Mistake mistake_;
  int steps_ = 0;
};

/// Only peers that train are programs; a server computes no gradient.
PeerParts programs(Mistake mistake) {
  PeerParts parts;
  parts.replica = [=](std::unique_ptr<Replica> real) -> std::unique_ptr<Replica> {
    if (real->gradient_flops() == 0) return real;
    return std::make_unique<MistakenProgram>(std::move(real), mistake);
  };
  return parts;
}

/// A program counts its own steps, so its peer does not make up for rounds alone.
PeerParts without_making_up() {
  PeerParts parts;
  parts.change_plan = [](Plan& plan) { plan.makes_up = false; };
  return parts;
}

/// Programs cannot be stages or actors, nor take samples of other peers.
bool could_be_programs(const Fleet& fleet) {
  return !fleet.parallel && !fleet.agent && fleet.data_servers == 0;
}

/// Returns whether all events happen at the same moment. SlowMo and DecentLaM need the rate, so a
/// program takes gradient and step in two turns. A program that saves its state has one turn more,
/// which decides the meetings in an asynchronous method. With AD-PSGD a built-in peer answers
/// during a gradient, but a program does not.
bool has_the_same_turns(const Assembly& fleet) {
  const std::string_view kind = fleet.algorithm->kind;
  if (kind == "slowmo" || kind == "decentlam" || kind == "ad-psgd") return false;
  return fleet.algorithm->synchronous || !fleet.fleet.checkpoint.every;
}

/// The end of a fleet with one seed's faults. A program's checkpoints also hold its own state, so a
/// disk that cuts a checkpoint in half keeps another half. A coordinate that is not finite stays at
/// a peer with sparse samples, but a program's dense g spreads it.
struct End {
  std::string params, violations;
  std::uint64_t trace = 0;
  bool operator==(const End&) const = default;
};

FaultClasses class_of(Fault fault) {
  return FaultClasses{1} << static_cast<unsigned>(fault);
}

End end_of(const ReadyFleet& ready, std::uint64_t seed, const PeerParts& parts) {
  const Assembly& fleet = *ready.fleet;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.parts = parts;
  options.faults = FaultPlan{seed, std::chrono::milliseconds(ready.drawn.until_ms), {}};
  options.faults->judgement = judgement_of(fleet);
  options.faults->times = swarm_times(fleet);
  options.faults->classes &=
      ~(class_of(Fault::disk_full) | class_of(Fault::torn) | class_of(Fault::accident));
  if (fleet.fleet.data.kind == "sparse") options.faults->classes &= ~class_of(Fault::poison);
  options.faults->succeed = options.faults->judgement == Judgement::mean ||
                            (fleet.algorithm->succeeds && fleet.fleet.restart);
  const SimulationResult result = simulate(fleet, observer, options);
  return {observer.params_hash(), fmt::format("{}", fmt::join(result.violations, "; ")),
          result.trace_hash};
}

/// Counts of drawn fleets of one row of the registry.
struct Count {
  std::size_t fleets = 0, unlike = 0;
};

Count compare(const AlgorithmRow& row, std::uint64_t fleets, Mistake mistake) {
  Count count;
  Refusals refusals;
  for (std::uint64_t k = 1; k <= fleets; ++k) {
    const ReadyFleet ready = draw_ready(k, std::vector<const AlgorithmRow*>{&row}, refusals);
    if (!could_be_programs(ready.fleet->fleet)) continue;
    ++count.fleets;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const End built_in = end_of(ready, seed, without_making_up());
      const End theirs = end_of(ready, seed, programs(mistake));
      if (built_in != theirs) ++count.unlike;
      if (mistake != Mistake::none) continue;
      SCOPED_TRACE(fmt::format("fleet {}, seed {}\n{}", k, seed, fleet_text(ready.drawn.keys)));
      if (has_the_same_turns(*ready.fleet)) {
        EXPECT_EQ(built_in.params, theirs.params);
        EXPECT_EQ(built_in.trace, theirs.trace);
      }
      EXPECT_EQ(theirs.violations, "");
    }
  }
  return count;
}

std::vector<const AlgorithmRow*> rows_for_programs() {
  std::vector<const AlgorithmRow*> rows;
  std::ranges::copy_if(algorithms(), std::back_inserter(rows),
                       [](const AlgorithmRow* row) { return row->program.objection.empty(); });
  return rows;
}

class ProgramsUnderFaults : public testing::TestWithParam<const AlgorithmRow*> {};

/// All events happen as with built-in peers that make up for no rounds, whatever is cut, killed,
/// slow or full. Programs change no message, no moment and no bit.
TEST_P(ProgramsUnderFaults, LiveAsBuiltInPeersDo) {
  EXPECT_GT(compare(*GetParam(), 4, Mistake::none).fleets, 0U);
}

INSTANTIATE_TEST_SUITE_P(EveryRow,
                         ProgramsUnderFaults,
                         testing::ValuesIn(rows_for_programs()),
                         [](const auto& row) { return name_of(*row.param); });

TEST(PlantedInPrograms, AreFoundByWhatHappens) {
  const AlgorithmRow& row = *rows_named("d-psgd:lian").front();
  for (const Mistake mistake : {Mistake::forgets_its_state, Mistake::steps_twice, Mistake::keeps_x})
    EXPECT_GT(compare(row, 24, mistake).unlike, 0U) << static_cast<int>(mistake);
}

}  // namespace
}  // namespace gv
