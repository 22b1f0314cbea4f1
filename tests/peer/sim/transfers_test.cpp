#include "gossip/transfers.h"

#include <array>
#include <cstring>
#include <initializer_list>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/plugin.h"
#include "peer/runtime/program_model.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"

// What neighbours push to each other in virtual time, between rounds of D-PSGD.

namespace gv {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Why = VerbEnd::Why;

constexpr std::array<std::size_t, 6> sizes = {
    0, 1, 1000, verb_piece_bytes, verb_piece_bytes + 1, 6 * verb_piece_bytes + 3};

/// Of the nth push of peer `from` to peer `to`.
std::vector<std::byte> drawn(PeerId from, PeerId to, std::uint64_t nth) {
  Rng rng = Rng(3).derive("transfers").derive(from).derive(to).derive(nth);
  std::vector<std::byte> bytes(sizes.at(rng.below(sizes.size())));
  std::uint64_t state = rng.below(1U << 31);
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return bytes;
}

/// What came of it, by peer.
struct Tally {
  std::size_t right = 0, wrong = 0, done_pushes = 0;
  std::vector<VerbEnd> failed{};
};
std::vector<Tally>* tallies = nullptr;  ///< of the fleet that runs

/// In each round so many in either direction between i and j, in an order that each draws.
class RoundOfTransfers {
 public:
  RoundOfTransfers(Peer& me, std::vector<std::uint64_t>& counts) : me_(me), counts_(counts) {
    Rng rng = Rng(4).derive("order").derive(me.plan.id).derive(me.round);
    for (std::size_t k = 0; k < me.neighbors.size(); ++k) begin_with(k, rng);
  }
  /// Until all have ended.
  Task<> wait() {
    if (left_ == 0) co_return;
    Suspend suspend{resume_};
    co_await suspend;
  }

 private:
  void begin_with(std::size_t k, Rng& rng) {
    const PeerId other = me_.neighbors[k].peer, me = me_.plan.id;
    const auto count = static_cast<std::size_t>((me + other + me_.round) % 3);
    std::size_t pushes = count, pulls = count;
    std::uint64_t push = counts_[k], pull = counts_[k];
    counts_[k] += count;
    while (pushes + pulls > 0) {
      const bool pushing = pulls == 0 || (pushes > 0 && rng.below(2) == 0);
      pushing ? begin_push(other, drawn(me, other, push++))
              : begin_pull(other, drawn(other, me, pull++));
      --(pushing ? pushes : pulls);
    }
  }
  void begin_push(PeerId other, std::vector<std::byte> data) {
    ++left_;
    me_.transfers().push(
        {.op = VerbOp::transfer, .type = VerbType::bytes, .root = other, .data = std::move(data)},
        [this](VerbEnd end) {
          if (end.why == Why::done) ++tally().done_pushes;
          ended(std::move(end));
        });
  }
  void begin_pull(PeerId other, const std::vector<std::byte>& expected) {
    ++left_;
    VerbCall call{.op = VerbOp::transfer,
                  .type = VerbType::bytes,
                  .root = other,
                  .data = std::vector<std::byte>(expected.size())};
    me_.transfers().pull(std::move(call), [this, expected](VerbEnd end) {
      if (end.why == Why::done) ++(end.data == expected ? tally().right : tally().wrong);
      ended(std::move(end));
    });
  }
  void ended(VerbEnd end) {
    if (end.why != Why::done) tally().failed.push_back(std::move(end));
    if (--left_ == 0 && resume_) me_.world.after(Time{0}, std::exchange(resume_, {}));
  }
  Tally& tally() const { return tallies->at(me_.plan.id); }

  Peer& me_;
  std::vector<std::uint64_t>& counts_;
  std::size_t left_ = 0;
  std::function<void()> resume_;
};

Task<> transfers_between_rounds(Peer& me) {
  std::vector<std::uint64_t> counts(me.neighbors.size());
  for (; me.running(); co_await me.end_round()) {
    RoundOfTransfers round(me, counts);
    co_await round.wait();
    co_await me.share();
    co_await me.gradient();
    co_await me.mix_and_step();
  }
}

const AlgorithmRow transfers_row{.kind = "transfers-between-rounds",
                                 .run = transfers_between_rounds,
                                 .mixes = true,
                                 .program = split_steps,
                                 .promise = Promise::nothing,
                                 .synchronous = false,
                                 .summary = "of a test"};

Fleet transfers_fleet(PeerId n, const std::string& graph, Round rounds) {
  static const std::array<const AlgorithmRow*, 1> rows = {&transfers_row};
  static const std::string refused = add_algorithms(rows);
  EXPECT_EQ(refused, "");
  Fleet fleet = quadratic_fleet(n, graph, std::string(transfers_row.kind), "");
  fleet.data.quadratic.dimension = 4;
  fleet.network.latency = microseconds(300);
  fleet.flops = 1e6;
  fleet.stop.rounds = rounds;
  fleet.faults.deadline = milliseconds(200);
  fleet.faults.dead_after = milliseconds(40);
  fleet.faults.heartbeat = milliseconds(8);
  for (PeerId i = 0; i < n; ++i) fleet.peers[i].speed = 1.0 / (1 + i % 3);
  return fleet;
}

std::vector<Tally> told(const Fleet& fleet, SimulationOptions options = {}) {
  const Assembly built_in(fleet);
  const Assembly assembly(fleet, std::nullopt, ProgramModel{.parameters = built_in.parameters});
  Observer observer(assembly.fleet.size(), built_in.evaluator(), {});
  std::vector<Tally> all(assembly.fleet.size());
  tallies = &all;
  options.threads = 1;
  options.replica = [&](PeerId i) { return built_in.host_replica(i); };
  EXPECT_EQ(simulate(assembly, observer, options).violations, std::vector<std::string>{});
  tallies = nullptr;
  return all;
}

struct Graph {
  std::string name;
  PeerId peers;
};

void PrintTo(const Graph& graph, std::ostream* out) {
  *out << graph.name << ' ' << graph.peers;
}

class TransfersOn : public testing::TestWithParam<Graph> {
 protected:
  Fleet fleet(Round rounds) const {
    return transfers_fleet(GetParam().peers, GetParam().name, rounds);
  }
};

/// Links break, frames are late, lost, torn and flipped, peers stand still: each pull has its push.
TEST_P(TransfersOn, EachPullGetsItsPushWhateverHappensOnTheWay) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    SCOPED_TRACE(seed);
    SimulationOptions options = injecting({});
    options.faults->seed = seed;
    options.faults->drawn = seed > 0;
    options.faults->succeed = false;
    options.faults->until = seconds(2);
    options.faults->judgement = Judgement::ends;
    options.faults->classes = 0;
    for (const Fault fault : {Fault::reset,
                              Fault::corrupt,
                              Fault::duplicate,
                              Fault::slice,
                              Fault::cut_off,
                              Fault::one_way,
                              Fault::half_open,
                              Fault::partition,
                              Fault::pause,
                              Fault::slow})
      options.faults->classes |= FaultClasses{1} << static_cast<unsigned>(fault);
    std::size_t pulls = 0, pushes = 0;
    for (const Tally& tally : told(fleet(9), options)) {
      EXPECT_EQ(tally.wrong, 0U);
      EXPECT_TRUE(tally.failed.empty());
      pulls += tally.right;
      pushes += tally.done_pushes;
    }
    EXPECT_EQ(pulls, pushes);
    EXPECT_GE(pulls, 9U);
  }
}

/// Between those who live nothing changes.
TEST_P(TransfersOn, ADeathEndsWhatIsUnderWayWithTheDeadAlone) {
  for (PeerId victim = 0; victim < GetParam().peers; ++victim) {
    SCOPED_TRACE(victim);
    SimulationOptions options =
        injecting({{.at = milliseconds(9), .kind = Injection::Kind::kill, .peer = victim}});
    options.faults->judgement = Judgement::ends;
    const std::vector<Tally> all = told(fleet(12), options);
    std::size_t failed = 0;
    for (PeerId i = 0; i < all.size(); ++i) {
      if (i == victim) continue;
      EXPECT_EQ(all[i].wrong, 0U);
      failed += all[i].failed.size();
      for (const VerbEnd& end : all[i].failed) {
        EXPECT_EQ(end.why, Why::died);
        EXPECT_EQ(end.peer, victim);
      }
    }
    EXPECT_GT(failed, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs,
                         TransfersOn,
                         testing::Values(Graph{"ring", 2},
                                         Graph{"ring", 7},
                                         Graph{"star", 5},
                                         Graph{"complete", 4},
                                         Graph{"binary-tree", 9}),
                         [](const auto& graph) { return fmt::format("Graph{}", graph.index); });

}  // namespace
}  // namespace gv
