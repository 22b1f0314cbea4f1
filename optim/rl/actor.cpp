#include "optim/rl/actor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/check.h"
#include "optim/rl/acting.h"
#include "optim/rl/q_loss.h"
#include "optim/rl/transitions.h"

namespace gv {
namespace {

class HostActor : public Actor {
 public:
  HostActor(const AgentSpec& spec,
            const EnvironmentRow& row,
            const NeuralNetwork& network,
            const ActorPlace& place,
            std::vector<float> x)
      : spec_(spec),
        network_(network),
        place_(place),
        form_(form_of(row)),
        acting_(row,
                spec,
                network,
                place.rng.derive("agent").derive("environment").derive(place.actor),
                place.rng.derive("agent").derive("explore").derive(place.actor)),
        loss_(network),
        x_(std::move(x)),
        next_(x_) {
    GV_CHECK_EQUAL(x_.size(), network_.size(), "a model of this network");
  }

  std::shared_ptr<Buffer> act() override {
    chunk_ = {};
    for (std::uint32_t k = 0; k < spec_.steps; ++k) {
      const double rate = spec_.explore.rate(frames_, place_.actor, place_.actors);
      acting_.step(x_, rate, [this](const Transition& one) { add(one); });
      frames_ += spec_.environments;
    }
    if (chunk_.rows() == 0) return nullptr;
    chunk_.weights.assign(chunk_.rows(), 1.0F);
    if (spec_.priority > 0) find_errors();
    return pack_transitions(chunk_, form_);
  }

  double flops() const override {
    const auto frames = static_cast<double>(spec_.frames());
    const double pass = network_.gradient_flops(1) / 3;
    return frames * (pass + place_.step_flops) + (spec_.priority > 0 ? 3 * frames * pass : 0);
  }

  void load(std::size_t begin, std::span<const float> piece) override {
    GV_CHECK(begin + piece.size() <= next_.size(), "a piece of the model");
    std::ranges::copy(piece, next_.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  bool use() override {
    if (!all_finite(next_)) return false;
    std::ranges::copy(next_, x_.begin());
    return true;
  }

  std::size_t size() const override { return x_.size(); }
  std::uint64_t frames() const override { return frames_; }

 private:
  void add(const Transition& one) {
    chunk_.seen.insert(chunk_.seen.end(), one.seen.begin(), one.seen.end());
    chunk_.next.insert(chunk_.next.end(), one.next.begin(), one.next.end());
    chunk_.actions.push_back(one.action);
    chunk_.rewards.push_back(one.reward);
    chunk_.futures.push_back(one.future);
  }

  /// Its own model is the target network as well. Errors that are no numbers are nobody's fault but
  /// the model's: the memory would refuse them.
  void find_errors() {
    loss_.find_errors(x_, x_, chunk_, chunk_.weights);
    for (float& error : chunk_.weights) error = std::isfinite(error) ? std::abs(error) : 0;
  }

  AgentSpec spec_;
  NeuralNetwork network_;
  ActorPlace place_;
  TransitionForm form_;
  Acting acting_;
  QLoss loss_;
  std::vector<float> x_, next_;
  std::uint64_t frames_ = 0;
  Drawn chunk_;
};

}  // namespace

std::unique_ptr<Actor> make_actor(const AgentSpec& spec,
                                  const EnvironmentRow& row,
                                  const NeuralNetwork& network,
                                  const ActorPlace& place,
                                  std::vector<float> x) {
  return std::make_unique<HostActor>(spec, row, network, place, std::move(x));
}

}  // namespace gv
