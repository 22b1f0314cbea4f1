#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "optim/models/model.h"
#include "peer/fleet/model_profile.h"
#include "peer/sim/world/audit.h"
#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Rounds per second of chains whose stages sleep, over emulated networks, compared with the
// simulator's. Depends on the clock, so it runs at night.

namespace gv {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::uint32_t rows = 16;
/// Seconds of a microbatch, by piece. Backward takes twice as long.
constexpr std::array forward_seconds{0.008, 0.012, 0.006, 0.010, 0.009, 0.011, 0.007, 0.010};

/// Seconds per parameter. More than the machine needs, so that its own work makes no difference.
constexpr double add_seconds = 4e-9;
constexpr double step_seconds = 2e-8;

/// A stage whose work takes the time of the profile, even if the machine is busy.
class SleepingStage : public AccountedReplica {
 public:
  SleepingStage(std::unique_ptr<Replica> real, double forward)
      : AccountedReplica(std::move(real)), forward_(forward) {}

  void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) override {
    const Until end(forward_);
    AccountedReplica::forward(k, at, in, out);
  }
  double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) override {
    const Until end(2 * forward_);
    return AccountedReplica::backward(k, at, in, out);
  }
  /// Adds a microbatch's gradient to the sum.
  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    const Until end(add_seconds * static_cast<double>(r.count));
    AccountedReplica::axpby(a, from, b, to, r);
  }
  void step() override {
    const Until end(step_seconds * static_cast<double>(size()));
    AccountedReplica::step();
  }

 private:
  /// Sleeps until its time has passed.
  class Until {
   public:
    explicit Until(double seconds) : end_(std::chrono::steady_clock::now() + Seconds(seconds)) {}
    Until(const Until&) = delete;
    ~Until() { std::this_thread::sleep_until(end_); }

   private:
    std::chrono::time_point<std::chrono::steady_clock, Seconds> end_;
  };

  double forward_;
};

struct Pace {
  PeerId stages;
  PeerId chains;
  const char* bandwidth;
};

class ChainPace : public testing::TestWithParam<Pace> {
 protected:
  static ChainFleet file() {
    return {.chains = GetParam().chains,
            .stages = GetParam().stages,
            .microbatches = 8,
            .batch = 8 * rows,
            .rounds = 24,
            .hidden = "[400, 400, 400, 400, 400, 400, 400]",
            .more = fmt::format("network: {{ bandwidth: {}, latency: 200 us, emulate: true }}\n",
                                GetParam().bandwidth)};
  }
  /// Returns that fleet with a profile of the seconds above.
  static Assembly profiled() {
    Fleet fleet = read_fleet_text(file().text());
    const Assembly bare(fleet);
    ModelProfile profile;
    profile.rows = {rows};
    profile.add_seconds = add_seconds;
    profile.step_seconds = step_seconds;
    profile.pieces = pieces_of(make_network(bare.fleet.model, *bare.data.train));
    for (std::size_t k = 0; k < profile.pieces.size(); ++k) {
      profile.pieces[k].forward_seconds = {forward_seconds.at(k)};
      profile.pieces[k].backward_seconds = {2 * forward_seconds.at(k)};
    }
    fleet.profile = std::make_shared<const ModelProfile>(std::move(profile));
    return Assembly(std::move(fleet));
  }
  /// Returns the time between the first and the last evaluation.
  static double seconds(const std::vector<FleetRecord>& records) {
    return Seconds(records.back().time - records.at(1).time).count();
  }
};

TEST_P(ChainPace, IsTheSimulators) {
  const Assembly fleet = profiled();
  const ChainRun virtually = run_chains(fleet);
  LoopbackFleet real(fleet, [&](PeerId i) {
    const double flops = fleet.plan(i).stage->measured->forward;
    PeerParts parts;
    parts.replica = [=, &fleet](std::unique_ptr<Replica> stage) {
      return std::make_unique<SleepingStage>(std::move(stage), flops / fleet.fleet.flops);
    };
    return parts;
  });
  real.run();
  EXPECT_EQ(real.observer.params_hash(), virtually.hashes.params);
  const double took = seconds(real.records);
  const double predicted = seconds(virtually.records);
  fmt::print("{:.3f} s a round, predicted {:.3f}\n", took / 22, predicted / 22);
  EXPECT_NEAR(took / predicted, 1, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Fleets,
                         ChainPace,
                         testing::Values(Pace{2, 1, "100 Mbit"},
                                         Pace{2, 1, "1 Gbit"},
                                         Pace{4, 1, "100 Mbit"},
                                         Pace{4, 1, "1 Gbit"},
                                         Pace{8, 1, "100 Mbit"},
                                         Pace{8, 1, "1 Gbit"},
                                         Pace{4, 2, "100 Mbit"},
                                         Pace{4, 2, "1 Gbit"}),
                         [](const auto& row) {
                           std::string name = fmt::format("{}x{}at{}", row.param.chains,
                                                          row.param.stages, row.param.bandwidth);
                           std::erase(name, ' ');
                           return name;
                         });

}  // namespace
}  // namespace gv
