#include "optim/mapped.h"
#include "peer/study/sweep/plan/sweep_file.h"
#include "peer/study/sweep/plan/trial_plan.h"
#include "tests/peer/study/sweep/sweep_fixture.h"

namespace gv {
namespace {

using Words = std::vector<std::string>;
using Axes = SweepFolders;

TEST_F(Axes, CellsAreTheProductWithoutWhatIsSkipped) {
  const SweepPlan p = plan(
      "vary:\n"
      "  method: { a: { topology: ring }, b: { topology: star } }\n"
      "  train.optimizer.lr: [0.1, 0.2, 0.3]\n"
      "skip: [{ method: b, train.optimizer.lr: [0.1, 0.3] }]\n");
  Words cells;
  for (const SweepCell& cell : p.cells)
    cells.push_back(cell.labels.at("method") + cell.labels.at("train.optimizer.lr"));
  EXPECT_EQ(cells, (Words{"a0.1", "a0.2", "a0.3", "b0.2"}));
}

/// A patch with a kind replaces the map of another kind. Any other patch is merged.
TEST_F(Axes, PatchesAreLeavesOrWholeKinds) {
  const SweepPlan p = plan(
      "vary:\n"
      "  m: { x: { algorithm: { kind: all-reduce, order: driver }, network: { latency: 5 ms, "
      "bandwidth: 10 Mbit }, x-note: { why: \"a: b\" } } }\n");
  EXPECT_EQ(mapped(p.cells[0].sets, &SweepSet::argument),
            (Words{"algorithm={kind: all-reduce, order: driver}", "network.latency=5 ms",
                   "network.bandwidth=10 Mbit", "x-note.why=\"a: b\""}));
}

TEST_F(Axes, APatchMeansWhatItSays) {
  const SweepPlan p = plan(
      "vary:\n"
      "  m: { x: { peers: 6, topology: { kind: torus, shape: [2, 3], weights: lazy } } }\n");
  const Fleet fleet = read_fleet(p.file.base, p.sets_of(0, {}, 7), nullptr);
  EXPECT_EQ(fleet.size(), 6U);
  EXPECT_EQ(fleet.weights, "lazy");
  EXPECT_EQ(fleet.seed, 7U);
}

TEST_F(Axes, FlowTextIsReadBackAsItWas) {
  for (const std::string text : {"plain", "5 ms", "a: b", "#x", "-", "\"", "10 %", ""}) {
    Value value;
    value.kind = Value::Kind::scalar;
    value.text = text;
    Value map;
    map.kind = Value::Kind::map;
    Value::Entry entry;
    entry.key = "key";
    entry.value = value;
    map.entries.push_back(entry);
    Source source("text");
    const Value back = source.parse_text(flow_text(map));
    EXPECT_TRUE(source.diagnostics().empty()) << text;
    ASSERT_NE(back.find("key"), nullptr) << text;
    EXPECT_EQ(back.find("key")->value.text, text);
  }
}

}  // namespace
}  // namespace gv
