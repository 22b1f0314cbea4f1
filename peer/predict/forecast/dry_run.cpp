#include "peer/predict/forecast/dry_run.h"

#include <algorithm>
#include <chrono>

#include "optim/train/named_state.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

/// A dry run of more rounds would take too long, and the rare one hardly counts.
constexpr Round most_period = 1000;

/// The sizes and the work of a replica; every operation does nothing.
class BlankReplica : public Replica {
 public:
  /// samples: what those that travel are drawn from.
  BlankReplica(std::size_t d, std::uint32_t batch, Objective& samples)
      : d_(d), batch_(batch), samples_(samples) {}

  std::size_t size() const override { return d_; }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.vector(name, neighbor);
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return names_.scalar(name, neighbor);
  }
  double gradient() override { return 0; }
  std::vector<Slice> draw(std::uint32_t parts) override { return samples_.draw(batch_, parts); }
  std::optional<double> gradient_over(const Buffer&) override { return 0; }
  void step() override {}
  double descend(const Descent&) override { return 0; }
  void revise(Vector) override {}
  double rate() const override { return 1; }
  NotFinite mix(Range, const Flows&) override { return {}; }
  NotFinite mix_and_step(Range, const Flows&) override { return {}; }
  bool add_flow(Vector, Range, float, const Buffer&, const Buffer&) override { return true; }
  void snapshot(Vector, Range, Buffer& out) const override {
    std::ranges::fill(out.floats(), 0.0F);  // a server looks whether what comes is finite
  }
  void load(Vector, Range, const Buffer&) override {}
  void add(Vector, Range, const Buffer&) override {}
  void scale(Vector, float) override {}
  void axpby(float, Vector, float, Vector, Range) override {}
  double dot(Vector, Vector, Range) const override { return 0; }
  void encode(const Codec& codec, Vector, Range r, Buffer& out) const override {
    gv::encode(codec, std::vector<float>(r.count), {out.data(), out.size()});
  }
  bool decode(const Codec&, Vector, Range, const Buffer&) override { return true; }
  bool finite() const override { return true; }
  Evaluation evaluate() override { return {}; }
  double gradient_flops() const override { return samples_.gradient_flops(batch_); }
  void save(StateWriter&) const override {}
  void restore(StateReader&) override {}
  void skip_to(GradientStep) override {}

 private:
  std::size_t d_;
  std::uint32_t batch_;
  Objective& samples_;
  NamedState names_;
};

/// A whole number of periods. Where pairs are drawn and whoever comes first is served, rounds take
/// unlike times: the mean of as many as cost about the same in any fleet.
Round rounds_that_tell(const Assembly& fleet) {
  const auto period_of = fleet.algorithm->period;
  const Round period = period_of == nullptr ? 1 : std::min(most_period, period_of(*fleet.setup));
  const Round enough =
      fleet.algorithm->synchronous ? 8 : std::clamp<Round>(2000 / fleet.fleet.size(), 8, 200);
  return period * std::max<Round>(1, enough / period);
}

}  // namespace

DryRun dry_run(const Assembly& fleet, const NetworkSpec& network) {
  const Round half = rounds_that_tell(fleet);
  const std::unique_ptr<Objective> objective = fleet.evaluator();
  SimulationOptions options;
  options.threads = 1;
  options.network = network;
  options.rounds = 2 * half;
  options.replica = [&](PeerId i) {
    return std::make_unique<BlankReplica>(fleet.size_of(i), fleet.fleet.peers[i].batch, *objective);
  };
  // The second half: the first holds the start.
  Time began{0};
  Time ended{0};
  options.on_progress = [&](Round round, Time now) {
    if (round <= half) began = now;
    ended = now;
  };
  // It waits for one report more than there are peers, so it never looks at models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  simulate(fleet, blind, options);
  std::uint64_t most = 0;
  for (const auto& [peer, report] : blind.finals()) most = std::max(most, report.sent_bytes);
  const auto rounds = static_cast<double>(half);
  return {.seconds_per_round = in_seconds(ended - began) / rounds,
          .bytes_per_round = static_cast<double>(most) / (2 * rounds)};
}

}  // namespace gv
