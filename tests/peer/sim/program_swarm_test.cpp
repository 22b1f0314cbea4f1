#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "peer/sim/drawn/shrink.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/program_peers.h"

// Programs under drawn faults, in drawn fleets.

namespace gv {
namespace {

/// A mistake of the program's side.
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

/// Only who trains is a program; a server takes no gradient of its own.
PeerParts programs(Mistake mistake) {
  PeerParts parts;
  parts.replica = [=](std::unique_ptr<Replica> real) -> std::unique_ptr<Replica> {
    if (real->gradient_flops() == 0) return real;
    return std::make_unique<MistakenProgram>(std::move(real), mistake);
  };
  return parts;
}

/// Stages, actors and samples of others are no program's.
bool could_be_programs(const Fleet& fleet) {
  return !fleet.parallel && !fleet.agent && fleet.data_servers == 0;
}

/// Where what happens is the same to the moment. SlowMo and DecentLaM ask a program for the
/// gradient and the step in two turns, since they need the rate; and who saves a state has one turn
/// more, which decides who meets whom where nobody waits for a round. Under AD-PSGD a built-in peer
/// answers while it computes a gradient, and a program does not.
bool has_the_same_turns(const Assembly& fleet) {
  const std::string_view kind = fleet.algorithm->kind;
  if (kind == "slowmo" || kind == "decentlam" || kind == "ad-psgd") return false;
  return fleet.algorithm->synchronous || !fleet.fleet.checkpoint.every;
}

/// How a fleet ended under one seed's faults. A program keeps a state of its own in a checkpoint,
/// which is longer so: a disk that takes half of it takes another half. A coordinate that is not a
/// number stays with a peer whose samples are sparse, and spreads by the dense g of a program.
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
  return {observer.params_hash(),
          fmt::format("{}", fmt::join(result.violations, "; ")),
          result.trace_hash};
}

/// Of drawn fleets of one row of the registry.
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
      const End built_in = end_of(ready, seed, {});
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
  std::ranges::copy_if(algorithms(), std::back_inserter(rows), [](const AlgorithmRow* row) {
    return row->program.objection.empty();
  });
  return rows;
}

class ProgramsUnderFaults : public testing::TestWithParam<const AlgorithmRow*> {};

/// Everything happens as it does to built-in peers, whatever is cut, killed, slow or full: programs
/// change no message, no moment and no bit.
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
