#include "gossip/verbs/transfers.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/sim/between_rounds.h"

// Pushes between neighbours in virtual time, between rounds of D-PSGD.

namespace gv {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Why = VerbEnd::Why;

constexpr std::array<std::size_t, 6> transfer_sizes = {
    0, 1, 1000, verb_piece_bytes, verb_piece_bytes + 1, 6 * verb_piece_bytes + 3};

/// Returns the bytes of the nth push from peer `from` to peer `to`.
std::vector<std::byte> drawn_transfers(PeerId from, PeerId to, std::uint64_t nth) {
  Rng rng = Rng(3).derive("transfers").derive(from).derive(to).derive(nth);
  std::vector<std::byte> bytes(transfer_sizes.at(rng.below(transfer_sizes.size())));
  std::uint64_t state = rng.below(1U << 31);
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return bytes;
}

/// The outcome at a peer.
struct Tally {
  std::size_t right = 0, wrong = 0, done_pushes = 0;
  std::vector<VerbEnd> failed{};
};
std::vector<Tally>* tallies = nullptr;  ///< by peer, in the running fleet

/// A round of several transfers in both directions between neighbours, in an order that each draws.
class RoundOfTransfers {
 public:
  RoundOfTransfers(Peer& me, std::vector<std::uint64_t>& counts) : me_(me), counts_(counts) {
    Rng rng = Rng(4).derive("order").derive(me.plan.id).derive(me.round);
    for (std::size_t k = 0; k < me.neighbors.size(); ++k) begin_with(k, rng);
  }
  /// Waits until all transfers have ended.
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
      pushing ? begin_push(other, drawn_transfers(me, other, push++))
              : begin_pull(other, drawn_transfers(other, me, pull++));
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

const AlgorithmRow transfers_row =
    between_rounds("transfers-between-rounds", transfers_between_rounds);

Fleet transfers_fleet(PeerId n, const std::string& graph, Round rounds) {
  static const std::array<const AlgorithmRow*, 1> rows = {&transfers_row};
  static const std::string refused = add_algorithms(rows);
  EXPECT_EQ(refused, "");
  return between_rounds_fleet(transfers_row, n, graph, rounds);
}

std::vector<Tally> told(const Fleet& fleet, SimulationOptions options) {
  std::vector<Tally> all(fleet.size());
  tallies = &all;
  simulate_programs(fleet, std::move(options));
  tallies = nullptr;
  return all;
}

class TransfersOn : public testing::TestWithParam<GraphOf> {
 protected:
  Fleet fleet(Round rounds) const {
    return transfers_fleet(GetParam().peers, GetParam().name, rounds);
  }
};

/// Links break, frames are late, lost, torn and flipped, peers stand still. Each pull has its push.
TEST_P(TransfersOn, EachPullGetsItsPushWhateverHappensOnTheWay) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    SCOPED_TRACE(seed);
    SimulationOptions options = all_but_deaths(seed);
    options.faults->drawn = seed > 0;
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

/// Transfers between living peers stay unchanged.
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
                         testing::Values(GraphOf{"ring", 2},
                                         GraphOf{"ring", 7},
                                         GraphOf{"star", 5},
                                         GraphOf{"complete", 4},
                                         GraphOf{"binary-tree", 9}),
                         [](const auto& graph) { return fmt::format("Graph{}", graph.index); });

}  // namespace
}  // namespace gv
