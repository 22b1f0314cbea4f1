#include "peer/sim/drawn/fleet_draw.h"

#include <set>

#include <gtest/gtest.h>

#include "graph/schedules.h"
#include "graph/topologies.h"
#include "peer/sim/swarm.h"

namespace gv {
namespace {

TEST(FleetDraw, OneNumberRepeatsAFleet) {
  for (std::uint64_t number = 1; number <= 10; ++number) {
    Refusals first, second;
    const ReadyFleet one = draw_ready(number, algorithms(), first);
    const ReadyFleet again = draw_ready(number, algorithms(), second);
    EXPECT_EQ(one.drawn.keys, again.drawn.keys);
    EXPECT_EQ(one.fleet->fleet.digest, again.fleet->fleet.digest);
    EXPECT_EQ(first, second);
    EXPECT_NE(one.drawn.keys, draw_ready(number + 100, algorithms(), first).drawn.keys);
  }
}

/// Each row has drawn fleets that can run and that the swarm can judge, with 3 to 9 peers or 1 to 4
/// chains.
TEST(FleetDraw, EveryRowIsDrawn) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(name_of_row(*row));
    const std::vector<const AlgorithmRow*> rows = rows_named(name_of_row(*row));
    EXPECT_EQ(rows, std::vector{row});
    Refusals refusals;
    for (std::uint64_t number = 1; number <= 3; ++number) {
      const ReadyFleet ready = draw_ready(number, rows, refusals);
      EXPECT_EQ(ready.fleet->algorithm, row);
      const bool chains = ready.fleet->fleet.stages() > 1;
      EXPECT_GE(ready.fleet->fleet.models(), chains ? 1U : 3U);
      EXPECT_LE(ready.fleet->fleet.models(), chains ? 4U : 9U);
      EXPECT_EQ(swarm_objection(*ready.fleet), "");
    }
  }
}

/// All drawn and read values, over all rows.
class Variety : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Refusals refusals;
    for (std::uint64_t number = 1; number <= 600; ++number)
      for (std::uint64_t attempt = 0; attempt < 5; ++attempt) {
        const FlatKeys keys = draw(number, attempt, algorithms()).keys;
        if (!read_drawn(fleet_text(keys), refusals)) continue;
        for (const auto& [path, value] : keys) values_[path].insert(value);
      }
  }
  static inline std::map<std::string, std::set<std::string>> values_;
};

TEST_F(Variety, HasEveryGraphAndSchedule) {
  for (const TopologyFamily* family : topology_families())
    EXPECT_EQ(values_["topology.kind"].contains(std::string(family->name)), family->name != "file")
        << family->name;
  for (const ScheduleFamily* family : schedule_families())
    EXPECT_EQ(values_["topology.kind"].contains(std::string(family->name)),
              family->name != "matrices")
        << family->name;
}

TEST_F(Variety, HasEveryCodecAndOptionAndKindOfData) {
  for (const std::string& word : codec_words())
    EXPECT_TRUE(values_["algorithm.codec.kind"].contains(word)) << word;
  for (const AlgorithmRow* row : algorithms())
    for (const Option& option : row->options)
      EXPECT_TRUE(values_.contains("algorithm." + std::string(option.name))) << option.name;
  EXPECT_EQ(values_["data.kind"].size(), 4U);
  EXPECT_EQ(values_["data.partition.kind"].size(), 2U);
  for (const char* path :
       {"train.local_steps", "checkpoint.every", "launch.restart", "faults.ledger",
        "network.jitter", "hosts.a.address", "data.servers", "parallel.microbatches",
        "parallel.schedule", "parallel.vertical_sync", "parallel.copies", "parallel.tensor",
        "train.optimizer.accumulate", "robust.clip"})
    EXPECT_TRUE(values_.contains(path)) << path;
  EXPECT_TRUE(values_["topology.weights"].contains("shares"));
}

TEST(FleetDraw, AMethodIsNamedWithOrWithoutItsOrder) {
  EXPECT_EQ(rows_named("d-psgd").size(), 3U);
  EXPECT_EQ(rows_named("d-psgd:atc").size(), 1U);
  EXPECT_THROW(rows_named("d-psgd:ring"), std::invalid_argument);
}

}  // namespace
}  // namespace gv
