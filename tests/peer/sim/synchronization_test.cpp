
#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "gossip/seam/task.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/places.h"
#include "tests/text_of.h"

// The examples of gossip/SYNCHRONIZATION.md compile and have the described effects.

namespace gv {
namespace {

/// v <- id + 1 in each coordinate.
Task<> number(Peer& me, Vector v) {
  Buffer in(me.replica.size() * sizeof(float));
  for (float& value : in.floats()) value = static_cast<float>(me.plan.id + 1);
  co_await me.compute(0, [&] { me.replica.load(v, {0, me.replica.size()}, in); });
}

Task<> all_reduce_example(Peer& me) {
  co_await number(me, Vector::x);
  const bool done = co_await all_reduce(me, everyone(me), Vector::x, Way::ring);
  if (!done) co_return;  // a member has gone for good
  co_await me.end_round();
}

Task<> sum_up(Peer& me, Vector v, bool& done) {
  done = co_await all_reduce(me, everyone(me), v, Way::ring);
}

Task<> all_reduce_beside_example(Peer& me) {
  bool done = false;
  co_await number(me, Vector::x);
  Beside sum(me.world, sum_up(me, Vector::x, done));  // begins now
  co_await me.gradient();                             // meanwhile
  co_await sum.join();                                // wait
  co_await me.end_round();
}

Task<> reduce_and_broadcast_example(Peer& me) {
  co_await number(me, Vector::x);
  const bool summed = co_await reduce(me, everyone(me), Vector::x);  // at peer 0
  if (!summed) co_return;
  const bool given = co_await broadcast(me, everyone(me), Vector::x);  // from peer 0
  if (!given) co_return;
  co_await me.end_round();
}

Task<> all_gather_example(Peer& me) {
  std::vector<Vector> of;
  for (const PeerId j : everyone(me)) of.push_back(me.replica.vector("model of", j));
  co_await number(me, of[me.plan.id]);
  const bool done = co_await all_gather(me, everyone(me), of);
  if (!done) co_return;
  co_await me.scale(Vector::x, 0);
  for (const Vector v : of) co_await me.axpby(1, v, 1, Vector::x);
  co_await me.end_round();
}

Task<> barrier_example(Peer& me) {
  co_await number(me, Vector::x);
  const bool all_here = co_await barrier(me, everyone(me));
  if (!all_here) co_return;
  co_await me.end_round();
}

Task<> push_and_pull_example(Peer& me) {
  co_await number(me, Vector::g);
  co_await push(me, Vector::g);  // to each server its part; does not wait
  const std::optional<Round> theirs = co_await pull(me, Vector::x);  // waits for the answer
  if (!theirs) co_return;                                            // a server has gone
  co_await me.end_round();
}

Task<> serve_example(Peer& me) {
  const auto pushes = co_await collect(me, me.plan.setup->peers);  // one of each worker
  co_await sum(me, Vector::x, pushes);
  for (const auto& [worker, push] : pushes) co_await answer(me, push, Vector::x);
  co_await me.end_round();
}

/// Returns the first coordinates of three peers at their end.
Values ends(Algorithm run, AlgorithmRow row) {
  row.run = run;
  if (row.serve != nullptr) row.serve = serve_example;
  Fleet fleet = quadratic_fleet(3, "ring", std::string(row.kind), std::string(row.order));
  fleet.data.quadratic.dimension = 50;
  fleet.stop.rounds = 1;
  Assembly assembly(fleet);
  assembly.algorithm = &row;
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, SimulationOptions());
  Values first;
  for (const auto& [peer, report] : observer.finals()) {
    EXPECT_EQ(report.round, 1U) << peer;
    for (const float value : report.model->floats()) EXPECT_EQ(value, report.model->floats()[0]);
    first.push_back(static_cast<double>(report.model->floats()[0]));
  }
  return first;
}

TEST(Synchronization, EveryWordDoesWhatItsPageSays) {
  const AlgorithmRow& ring = *find_algorithm("all-reduce", "ring");
  const AlgorithmRow& driver = *find_algorithm("all-reduce", "driver");
  const AlgorithmRow& server = *find_algorithm("parameter-server", "sync");
  EXPECT_EQ(ends(all_reduce_example, ring), (Values{6, 6, 6}));
  EXPECT_EQ(ends(all_reduce_beside_example, ring), (Values{6, 6, 6}));
  EXPECT_EQ(ends(reduce_and_broadcast_example, driver), (Values{6, 6, 6}));
  EXPECT_EQ(ends(all_gather_example, ring), (Values{6, 6, 6}));
  EXPECT_EQ(ends(barrier_example, ring), (Values{1, 2, 3}));
  EXPECT_EQ(ends(push_and_pull_example, server), (Values{6, 6, 6, 6}));
}

/// Each block between ```cpp and ``` in the page occurs here, line for line.
TEST(Synchronization, ThePageShowsWhatIsTested) {
  const std::string page = text_of(source_folder() + "/gossip/SYNCHRONIZATION.md");
  const std::string here = text_of(source_folder() + "/tests/peer/sim/synchronization_test.cpp");
  std::size_t blocks = 0;
  for (std::size_t at = page.find("```cpp\n"); at != std::string::npos;
       at = page.find("```cpp\n", at + 1)) {
    const std::size_t begin = at + 7;
    const std::string block = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_NE(here.find(block), std::string::npos) << block;
    ++blocks;
  }
  EXPECT_EQ(blocks, 8U);
}

}  // namespace
}  // namespace gv
