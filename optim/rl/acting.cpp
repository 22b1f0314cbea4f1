#include "optim/rl/acting.h"

#include <algorithm>

#include "optim/rl/q_loss.h"

namespace gv {
namespace {

constexpr std::uint32_t greedy_episodes = 100;  ///< of an evaluation

}  // namespace

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
