#include <gtest/gtest.h>

#include "peer/sim/world/audit.h"
#include "tests/peer/sim/chains/chain_fleets.h"

// Chains with one bug each. The comparisons with whole peers and with an undisturbed end find it.

namespace gv {
namespace {

enum class Bug : std::uint8_t { none, other_order, microbatch_twice, stale_gradient };

class WrongStage : public AccountedReplica {
 public:
  WrongStage(std::unique_ptr<Replica> real, Bug bug)
      : AccountedReplica(std::move(real)), bug_(bug) {}

  void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) override {
    const bool twice = bug_ == Bug::microbatch_twice && k == 1 && in != nullptr;
    AccountedReplica::forward(k, at, twice ? before_.get() : in, out);
    if (in != nullptr) before_ = copy_of(*in);
  }
  double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) override {
    const bool stale = bug_ == Bug::stale_gradient && k == 1 && out != nullptr;
    const double loss = AccountedReplica::backward(k, at, in, stale ? gradient_before_.get() : out);
    if (out != nullptr) gradient_before_ = copy_of(*out);
    return loss;
  }
  /// Adds up the microbatches in reverse order.
  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    const bool adds = from == Vector::g && to != Vector::x;
    const bool ends = to == Vector::g && !parts_.empty();
    if (bug_ != Bug::other_order || !(adds || ends))
      return AccountedReplica::axpby(a, from, b, to, r);
    Buffer g(size() * sizeof(float));
    snapshot(Vector::g, {0, size()}, g);
    const float share = adds ? a : b;
    if (adds) {
      parts_.push_back(copy_of(g));
      return;
    }
    for (float& value : g.floats()) value *= share;
    while (!parts_.empty()) {
      for (std::size_t k = 0; k < size(); ++k) g.floats()[k] += share * parts_.back()->floats()[k];
      parts_.pop_back();
    }
    load(Vector::g, {0, size()}, g);
  }

 private:
  static std::unique_ptr<Buffer> copy_of(const Buffer& buffer) {
    auto copy = std::make_unique<Buffer>(buffer.size());
    std::ranges::copy(buffer.floats(), copy->floats().begin());
    return copy;
  }

  Bug bug_;
  std::unique_ptr<Buffer> before_, gradient_before_;
  std::vector<std::unique_ptr<Buffer>> parts_;
};

std::string bits_with(const ChainFleet& file, Bug bug) {
  const Assembly fleet = file.assembly();
  SimulationOptions options;
  options.replica = [&](PeerId i) {
    return std::make_unique<WrongStage>(fleet.host_replica(i), bug);
  };
  return run_chains(fleet, options).hashes.params;
}

TEST(PlantedInChains, AreFoundByTheBits) {
  ChainFleet file;
  file.stages = 3;
  file.microbatches = 4;
  file.optimizer = "{ kind: sgd, lr: 0.1 }";
  const std::string whole = run_chains(file.whole().assembly()).hashes.params;
  EXPECT_EQ(bits_with(file, Bug::none), whole);
  for (const Bug bug : {Bug::other_order, Bug::microbatch_twice, Bug::stale_gradient})
    EXPECT_NE(bits_with(file, bug), whole) << static_cast<int>(bug);
}

Task<> steps_on_half_a_gradient(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    try {
      co_await me.gradient();
    } catch (const ChainEnded&) {
      me.stop();
    }
    co_await me.step_local();
  }
}

/// Returns the number of drawn stops in which the stages of a chain end in different rounds.
std::size_t ends_apart(Algorithm run) {
  std::size_t apart = 0;
  for (std::uint64_t k = 0; k < 30; ++k) {
    ChainFleet file;
    file.chains = 1;
    file.stages = 3;
    file.rounds = 20;
    file.method = "{ kind: isolated }";
    Assembly fleet = file.assembly();
    AlgorithmRow row = *fleet.algorithm;
    if (run != nullptr) row.run = run;
    fleet.algorithm = &row;
    std::uint64_t instants = 0;
    SimulationOptions options;
    options.threads = 1;
    options.between = [&](const std::vector<Peer*>& peers) {
      if (instants++ == 5 + 3 * k) peers[k % 3]->stop();
    };
    const ChainRun ended = run_chains(fleet, options);
    const Round first = ended.finals.at(0).round;
    apart += ended.finals.at(1).round != first || ended.finals.at(2).round != first ? 1 : 0;
  }
  return apart;
}

TEST(PlantedInChains, AStepOnHalfAGradientIsFoundByTheRounds) {
  EXPECT_EQ(ends_apart(nullptr), 0U);
  EXPECT_GT(ends_apart(steps_on_half_a_gradient), 0U);
}

}  // namespace
}  // namespace gv
