#include <gtest/gtest.h>

#include "peer/sim/drawn/fleet_draw.h"
#include "tests/mutants/mutants.h"

namespace gv {
namespace {

TEST(Shrink, AKindOfViolationSaysNotWhoAndWhen) {
  EXPECT_EQ(kind_of("peer 3 (life 0) waits for ever in round 12"),
            "peer N (life N) waits for ever in round N");
  EXPECT_EQ(kind_of("the vector of peer 0 has drifted by 1.3e-05"),
            "the vector of peer N has drifted by N");
  EXPECT_EQ(kind_of("the vector of peer 0 has drifted by nan"),
            "the vector of peer N has drifted by nan");
}

/// A peer that voids late halves at one end only, found in drawn fleets. The printed fleet breaks
/// the same rule with fewer keys and few kinds of fault.
TEST(Shrink, WhatIsPrintedFailsAndIsSmall) {
  DrawOptions options;
  options.last = 200;
  options.rows = rows_named("d-psgd");
  options.parts = mutants::parts_of("drop_when_late");
  options.jobs = 1;
  std::optional<Violation> found;
  options.on_violation = [&](const Violation& violation) { found = violation; };
  options.interrupted = [&] { return found.has_value(); };
  swarm_of_drawn(options);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->shrunk);
  Refusals refusals;
  const DrawnFleet drawn = draw_ready(found->fleet, options.rows, refusals).drawn;
  EXPECT_LT(found->run.keys.size(), drawn.keys.size());
  EXPECT_LT(names_of(found->run.classes).size(), fault_names.size());

  const Assembly fleet(read_fleet_text(fleet_text(found->run.keys)));
  EXPECT_LE(fleet.fleet.size(), 4U);
  SwarmOptions again;
  again.first = again.last = found->run.seed;
  again.until = std::chrono::milliseconds(found->run.until_ms);
  again.classes = found->run.classes;
  EXPECT_EQ(swarm(fleet, again).violations, 0U) << "without the bug";
  again.parts = options.parts;
  EXPECT_EQ(swarm(fleet, again).texts, found->texts);
}

}  // namespace
}  // namespace gv
