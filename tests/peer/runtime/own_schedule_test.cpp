#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "tests/graph/drawn_matrices.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// A fleet of this row with noisy, different gradients, on the matrices of a file.
Fleet fleet_on(const std::string& file, const AlgorithmRow& row, PeerId n) {
  Fleet fleet = row_fleet(row, n);
  fleet.schedule = parse_schedule("matrices:" + file);
  fleet.weights = "metropolis";
  fleet.stop.rounds = 15;
  return fleet;
}

Outcome over_tcp(const Assembly& assembly) {
  LoopbackFleet fleet(assembly);
  fleet.run();
  EXPECT_EQ(fleet.log, "");
  return {fleet.observer.params_hash(), fleet.observer.summary()->costs.sent_bytes};
}

/// Returns why the row cannot run there, or "" if it can.
std::string objection_of(const Fleet& fleet, const AlgorithmRow& row) {
  return objection_to(row, setup_of(fleet), nullptr);
}

/// Drawn matrices for 3 to 9 peers, with rounds in which some or all peers are alone. Sockets and
/// virtual time end with the same bits, for each synchronous method that takes a schedule.
TEST(OwnSchedule, EndsWithTheSameBitsInBothWorlds) {
  const ScratchFolder folder;
  SplitMix rng(11);
  int fleets = 0;
  for (const AlgorithmRow* row : synchronous_rows()) {
    if (!row->mixes || row->promise == Promise::push_sum) continue;
    for (int draw = 0; draw < 2; ++draw) {
      const auto n = static_cast<PeerId>(3 + rng.below(7));
      DrawnMatrices drawn = drawn_matrices(n, 1 + rng.below(4), true, rng);
      std::vector<double>& alone = drawn.matrices.emplace_back(std::size_t{n} * n);
      for (PeerId i = 0; i < n; ++i) alone[std::size_t{i} * n + i] = 1;
      const std::string file = draw == 0 ? write_npy(drawn, folder.path() + "/w.npy")
                                         : write_text(drawn, folder.path() + "/w.txt");
      const Fleet fleet = fleet_on(file, *row, n);
      if (!objection_of(fleet, *row).empty()) continue;
      SCOPED_TRACE(name_of(*row) + " on " + std::to_string(n));
      const Assembly assembly(fleet);
      const Outcome tcp = over_tcp(assembly);
      EXPECT_EQ(tcp.hash, in_virtual_time(assembly).hash);
      EXPECT_EQ(tcp.sent_bytes, in_virtual_time(assembly).sent_bytes);
      ++fleets;
    }
  }
  EXPECT_GT(fleets, 10);
}

/// W_ij of a directed W is the weight that i gives j, and W_ji does not determine it.
TEST(OwnSchedule, MayBeDirected) {
  const ScratchFolder folder;
  SplitMix rng(3);
  const AlgorithmRow* row = find_algorithm("d-psgd", "lian");
  for (const PeerId n : {3U, 6U, 9U}) {
    const DrawnMatrices drawn = drawn_matrices(n, 3, false, rng);
    const Assembly assembly(fleet_on(write_npy(drawn, folder.path() + "/w.npy"), *row, n));
    EXPECT_TRUE(assembly.schedule->directed());
    EXPECT_EQ(over_tcp(assembly).hash, in_virtual_time(assembly).hash) << n;
  }
}

/// The matrices of a family, read from a file, train with the bits of the family.
TEST(OwnSchedule, OfAFamilyHasTheBitsOfTheFamily) {
  const ScratchFolder folder;
  for (const AlgorithmRow* row : {find_algorithm("d-psgd", "lian"), find_algorithm("d-psgd", "cta"),
                                  find_algorithm("gradient-tracking", "")}) {
    for (const char* name : {"base:k=1", "base:k=2"}) {
      Fleet family = fleet_on("", *row, 7);
      family.schedule = parse_schedule(name);
      const DrawnMatrices same = matrices_of(*make_schedule(*family.schedule, 7));
      const Fleet own = fleet_on(write_npy(same, folder.path() + "/w.npy"), *row, 7);
      EXPECT_EQ(in_virtual_time(Assembly(own)).hash, in_virtual_time(Assembly(family)).hash)
          << name_of(*row) << " " << name;
    }
  }
}

}  // namespace
}  // namespace gv
