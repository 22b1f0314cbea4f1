#include "optim/rl/acting.h"

#include <stdexcept>
#include <utility>

#include "optim/check.h"
#include "optim/rl/q_agent.h"
#include "optim/rl/served_memory.h"

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

  /// Uses its own model as the target network as well. Replaces errors that are not finite, which
  /// the memory would refuse: they come from the model.
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

constexpr std::uint32_t greedy_episodes = 100;  ///< episodes per evaluation

}  // namespace

std::unique_ptr<Actor> make_actor(const AgentSpec& spec,
                                  const EnvironmentRow& row,
                                  const NeuralNetwork& network,
                                  const ActorPlace& place,
                                  std::vector<float> x) {
  return std::make_unique<HostActor>(spec, row, network, place, std::move(x));
}

NStep::NStep(std::uint32_t n, double discount, std::uint32_t numbers)
    : n_(n),
      discount_(discount),
      numbers_(numbers),
      seen_(std::size_t{n} * numbers),
      actions_(n),
      rewards_(n) {}

void NStep::step(std::span<const float> seen,
                 std::uint32_t action,
                 const Environment::Step& step,
                 std::span<const float> next,
                 const TakeTransition& take) {
  const std::size_t at = place(count_++);
  std::ranges::copy(seen, seen_.begin() + static_cast<std::ptrdiff_t>(at * numbers_));
  actions_[at] = action;
  rewards_[at] = step.reward;
  if (step.ended())
    while (count_ > 0) complete_first(step.over, next, take);
  else if (count_ == n_)
    complete_first(false, next, take);
}

void NStep::complete_first(bool over, std::span<const float> next, const TakeTransition& take) {
  double factor = 1;
  double reward = 0;
  for (std::uint32_t k = 0; k < count_; ++k, factor *= discount_)
    reward += factor * static_cast<double>(rewards_[place(k)]);
  take({.seen = std::span(seen_).subspan(std::size_t{first_} * numbers_, numbers_),
        .action = actions_[first_],
        .reward = static_cast<float>(reward),
        .future = over ? 0.0F : static_cast<float>(factor),
        .next = next});
  first_ = static_cast<std::uint32_t>(place(1));
  --count_;
}

void NStep::save(StateWriter& out) const {
  out.name("steps");
  out.u64(first_);
  out.u64(count_);
  out.values(seen_);
  out.values(actions_);
  out.values(rewards_);
}

void NStep::restore(StateReader& in, std::uint32_t actions) {
  in.name("steps");
  const std::uint64_t first = in.u64();
  const std::uint64_t count = in.u64();
  in.values(seen_);
  in.values(actions_);
  in.values(rewards_);
  const auto finite = [](float v) { return std::isfinite(v); };
  if (first >= n_ || count >= n_ || !std::ranges::all_of(seen_, finite) ||
      !std::ranges::all_of(rewards_, finite) ||
      !std::ranges::all_of(actions_, [&](std::uint32_t a) { return a < actions; }))
    throw std::runtime_error("training state: an impossible number of steps");
  first_ = static_cast<std::uint32_t>(first);
  count_ = static_cast<std::uint32_t>(count);
}

Acting::Acting(const EnvironmentRow& row,
               const AgentSpec& spec,
               const NeuralNetwork& network,
               Rng starts,
               Rng explore)
    : row_(row),
      numbers_(row.seen.elements()),
      network_(network, spec.environments, false),
      starts_(starts),
      explore_(explore),
      seen_(spec.environments * numbers_),
      next_(numbers_) {
  for (std::uint32_t k = 0; k < spec.environments; ++k) {
    environments_.push_back(row.make());
    environments_.back()->reset(starts_, seen(k));
    horizons_.emplace_back(spec.n_step, spec.discount, static_cast<std::uint32_t>(numbers_));
  }
}

void Acting::step(std::span<const float> x, double explore, const TakeTransition& take) {
  std::ranges::copy(seen_, network_.inputs().begin());
  network_.forward(x, Moments::of_the_batch);
  const std::span<const float> q = network_.logits();
  for (std::size_t k = 0; k < environments_.size(); ++k) {
    std::uint32_t action = best_of(q.subspan(k * row_.actions, row_.actions));
    if (explore_.uniform() < explore)
      action = static_cast<std::uint32_t>(explore_.below(row_.actions));
    const Environment::Step step = environments_[k]->step(action, starts_, next_);
    horizons_[k].step(seen(k), action, step, next_, take);
    if (step.ended())
      environments_[k]->reset(starts_, seen(k));
    else
      std::ranges::copy(next_, seen(k).begin());
  }
}

void Acting::save(StateWriter& out) const {
  out.name("acting");
  starts_.save(out);
  explore_.save(out);
  for (std::size_t k = 0; k < environments_.size(); ++k) {
    environments_[k]->save(out);
    horizons_[k].save(out);
  }
}

void Acting::restore(StateReader& in) {
  in.name("acting");
  starts_.restore(in);
  explore_.restore(in);
  for (std::size_t k = 0; k < environments_.size(); ++k) {
    environments_[k]->restore(in);
    environments_[k]->look(seen(k));
    horizons_[k].restore(in, row_.actions);
  }
}

GreedyPlay::GreedyPlay(const EnvironmentRow& row, const NeuralNetwork& network, const Rng& starts)
    : row_(row),
      actions_(row.actions),
      network_(network, greedy_episodes, false),
      starts_(starts) {}

double GreedyPlay::mean_return(std::span<const float> x) {
  const std::size_t numbers = row_.seen.elements();
  std::vector<std::unique_ptr<Environment>> episodes;
  std::vector<Rng> chance;
  std::vector<float> seen(greedy_episodes * numbers);
  const auto seen_in = [&](std::size_t k) { return std::span(seen).subspan(k * numbers, numbers); };
  for (std::uint32_t k = 0; k < greedy_episodes; ++k) {
    chance.push_back(starts_.derive(k));
    episodes.push_back(row_.make());
    episodes.back()->reset(chance.back(), seen_in(k));
  }
  double total = 0;
  for (std::size_t going = greedy_episodes; going > 0;) {
    std::ranges::copy(seen, network_.inputs().begin());
    network_.forward(x, Moments::of_the_batch);
    const std::span<const float> q = network_.logits();
    for (std::size_t k = 0; k < episodes.size(); ++k) {
      if (!episodes[k]) continue;
      const std::uint32_t action = best_of(q.subspan(k * actions_, actions_));
      const Environment::Step step = episodes[k]->step(action, chance[k], seen_in(k));
      total += static_cast<double>(step.reward);
      if (step.ended()) episodes[k].reset(), --going;
    }
  }
  return total / greedy_episodes;
}

}  // namespace gv
