#include <cmath>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "peer/sim/world/audit.h"
#include "tests/peer/sim/chains/chain_fleets.h"

// Chains without a flush must end with the results of one process per model that composes its
// weights from versions as old as PipeDream's. That process shares no code with the division, the
// order of turns, the channels and the ring of versions.

namespace gv {
namespace {

/// A peer with a whole model. The gradient of minibatch k is at weights whose part of stage s is as
/// after max(0, k - (p - 1 - s)) steps, or with vertical sync max(0, k - (p - 1)).
class Delayed : public AccountedReplica {
 public:
  Delayed(const Assembly& whole, const Assembly& chains, PeerId i)
      : AccountedReplica(whole.host_replica(i)),
        objective_(whole.objective(i)),
        batch_(whole.fleet.peers[i].batch) {
    const PeerId last = chains.fleet.stages() - 1;
    for (PeerId s = 0; s <= last; ++s)
      parts_.push_back({.range = chains.division->range(s),
                        .age = chains.fleet.parallel->vertical_sync ? last : last - s});
  }

  void gradient() override {
    const std::size_t k = versions_.size();
    snapshot(Vector::x, {0, size()}, versions_.emplace_back(size() * sizeof(float)));
    Buffer x(size() * sizeof(float)), g(size() * sizeof(float));
    for (const auto& [range, age] : parts_) {
      const Buffer& version = versions_[k - std::min(k, age)];
      std::ranges::copy(version.floats().subspan(range.begin, range.count),
                        x.floats().subspan(range.begin).begin());
    }
    loss_ = objective_->value_and_gradient(x.floats(), batch_, g.floats());
    load(Vector::g, {0, size()}, g);
  }
  double loss() const override { return loss_; }

 private:
  struct Part {
    Range range;
    std::size_t age;  ///< steps
  };

  std::unique_ptr<Objective> objective_;
  std::uint32_t batch_;
  std::vector<Part> parts_;
  std::deque<Buffer> versions_;
  double loss_ = 0;
};

ChainRun run_delayed(const ChainFleet& file) {
  const Assembly chains = file.assembly();
  ChainFleet peers = file;
  peers.stages = 0;
  const Assembly whole = peers.assembly();
  SimulationOptions options;
  options.replica = [&](PeerId i) { return std::make_unique<Delayed>(whole, chains, i); };
  return run_chains(whole, options);
}

/// Fleets of two chains, so that the versions include the averaging between two gradients.
std::vector<ChainFleet> files() {
  std::vector<ChainFleet> all;
  for (PeerId stages = 2; stages <= 4; ++stages)
    for (const char* method :
         {"{ kind: isolated }", "{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }",
          "{ kind: gradient-tracking }", "{ kind: all-reduce }"}) {
      ChainFleet file;
      file.stages = stages;
      file.method = method;
      file.chains = file.method == "{ kind: isolated }" ? 1 : 2;
      file.optimizer =
          stages == 3 ? "{ kind: adam, lr: 0.01 }" : "{ kind: sgd, lr: 0.05, momentum: 0.5 }";
      file.recompute = stages == 4;
      file.rounds = 50;
      all.push_back(file);
    }
  return all;
}

TEST(PipeDream, HasTheBitsOfOneProcessWithVersionsAsOld) {
  for (const ChainFleet& file : files()) {
    std::set<std::string> models{run_chains(file.assembly()).hashes.params};
    for (const bool sync : {false, true}) {
      const ChainFleet stream = file.streamed(sync);
      const ChainRun chains = run_chains(stream.assembly());
      const ChainRun whole = run_delayed(stream);
      EXPECT_EQ(chains.hashes.params, whole.hashes.params) << stream.text();
      ASSERT_EQ(chains.records.size(), whole.records.size()) << stream.text();
      for (std::size_t k = 0; k < chains.records.size(); ++k) {
        EXPECT_EQ(chains.records[k].train_loss, whole.records[k].train_loss) << stream.text();
        EXPECT_EQ(chains.records[k].mean.loss, whole.records[k].mean.loss) << stream.text();
        EXPECT_EQ(chains.records[k].costs.samples, whole.records[k].costs.samples) << stream.text();
      }
      EXPECT_TRUE(std::isfinite(chains.records.back().mean.loss)) << stream.text();
      models.insert(chains.hashes.params);
    }
    EXPECT_EQ(models.size(), 3U) << "a flush, none, and vertical sync train three models";
  }
}

/// One stage has no other to wait for.
TEST(PipeDream, OfOneStageIsPlainTraining) {
  ChainFleet file;
  file.stages = 1;
  file.microbatches = 1;
  for (const bool sync : {false, true})
    EXPECT_EQ(run_chains(file.streamed(sync).assembly()).hashes.params,
              run_chains(file.assembly()).hashes.params);
}

/// A run shorter than the chain never fills it.
TEST(PipeDream, EndsBeforeItIsFull) {
  for (Round rounds = 1; rounds <= 4; ++rounds) {
    ChainFleet file;
    file.stages = 4;
    file.rounds = rounds;
    const ChainFleet stream = file.streamed(rounds % 2 == 0);
    EXPECT_EQ(run_chains(stream.assembly()).hashes.params, run_delayed(stream).hashes.params)
        << rounds;
  }
}

/// Goes backward with other weights than forward, which weight stashing must prevent.
class ForgetfulStage : public AccountedReplica {
 public:
  using AccountedReplica::AccountedReplica;

  double backward(std::uint32_t k, Vector, Buffer* in, const Buffer* out) override {
    return AccountedReplica::backward(k, Vector::x, in, out);
  }
};

TEST(PlantedInPipeDream, NewerWeightsOnTheWayBackAreFoundByTheBits) {
  ChainFleet file;
  file.stages = 3;
  file.rounds = 10;
  for (const bool sync : {false, true}) {
    const ChainFleet stream = file.streamed(sync);
    const Assembly fleet = stream.assembly();
    SimulationOptions options;
    options.replica = [&](PeerId i) {
      return std::make_unique<ForgetfulStage>(fleet.host_replica(i));
    };
    const std::string forgetful = run_chains(fleet, options).hashes.params;
    EXPECT_NE(forgetful, run_delayed(stream).hashes.params);
  }
}

}  // namespace
}  // namespace gv
