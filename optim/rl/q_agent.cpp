#include "optim/rl/q_agent.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "optim/rl/served_memory.h"
#include "optim/unknown_figure.h"

namespace gv {
namespace {

class QAgent : public Objective {
 public:
  QAgent(const AgentSpec& spec,
         const EnvironmentRow& row,
         NeuralNetwork network,
         const AgentPlace& place)
      : spec_(spec),
        row_(row),
        network_(std::move(network)),
        place_(place),
        rng_(place.rng.derive("agent")),
        acting_(row,
                spec,
                network_,
                rng_.derive("environment").derive(place.peer),
                rng_.derive("explore").derive(place.peer)),
        memory_({.places = spec.memory,
                 .numbers = static_cast<std::uint32_t>(row.seen.elements()),
                 .actions = row.actions,
                 .binary = row.binary,
                 .priority = spec.priority,
                 .correction = spec.correction}),
        draws_(rng_.derive("memory").derive(place.peer)),
        loss_(network_),
        target_(network_.size()),
        form_(form_of(row)) {}

  std::vector<Parameter> parameters() const override { return network_.parameters(); }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng rng) const override { network_.initialize(x, rng); }

  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    begin_gradient(x);
    for (std::uint32_t k = 0; k < spec_.steps; ++k) act(x);
    if (memory_.size() < spec_.warm_up) {
      std::ranges::fill(g, 0.0F);
      return unknown_figure();
    }
    memory_.draw(batch, draws_, drawn_);
    const double loss = loss_.value_and_gradient(x, target_, drawn_, g, errors_);
    memory_.judge(drawn_.places, errors_);
    return loss;
  }

  /// The minibatch is the one that the memory drew for it.
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    std::optional<Drawn> drawn = unpack_transitions(samples, form_, spec_.memory);
    if (!drawn) return {};
    begin_gradient(x);
    const double loss = loss_.value_and_gradient(x, target_, *drawn, g, errors_);
    if (place_.judged && spec_.priority > 0) place_.judged->errors = errors_;
    return loss;
  }

  Evaluation evaluate(std::span<const float> x) override {
    if (!greedy_) greedy_.emplace(row_, network_, rng_.derive("evaluation"));
    return {-greedy_->mean_return(x), std::nullopt};
  }

  /// A gradient is three passes; acting is one of a row, and the targets are two of a minibatch. A
  /// learner with actors does not act.
  double gradient_flops(std::uint32_t batch) const override {
    const double pass = network_.gradient_flops(1) / 3;
    const auto frames = place_.judged ? 0.0 : static_cast<double>(spec_.frames());
    return frames * (pass + place_.step_flops) + network_.gradient_flops(batch) + 2 * batch * pass;
  }

  void save(StateWriter& out) const override {
    out.name("agent");
    out.u64(gradients_);
    out.u64(frames_);
    out.values(target_);
    draws_.save(out);
    acting_.save(out);
    memory_.save(out);
  }
  void restore(StateReader& in) override {
    in.name("agent");
    gradients_ = in.u64();
    frames_ = in.u64();
    in.values(target_);
    draws_.restore(in);
    acting_.restore(in);
    memory_.restore(in);
  }

 private:
  void begin_gradient(std::span<const float> x) {
    if (gradients_ % spec_.refresh == 0) std::ranges::copy(x, target_.begin());
    ++gradients_;
  }
  void act(std::span<const float> x) {
    const double rate = spec_.explore.rate(frames_, place_.peer, place_.peers);
    acting_.step(x, rate, [this](const Transition& one) { memory_.add(one); });
    frames_ += spec_.environments;
  }

  AgentSpec spec_;
  const EnvironmentRow& row_;
  NeuralNetwork network_;
  AgentPlace place_;
  Rng rng_;
  Acting acting_;
  Memory memory_;
  Rng draws_;
  QLoss loss_;
  std::vector<float> target_;  ///< x^-
  TransitionForm form_;
  std::uint64_t gradients_ = 0;
  std::uint64_t frames_ = 0;
  Drawn drawn_;
  std::vector<float> errors_;
  std::optional<GreedyPlay> greedy_;
};

/// Huber 1964, "Robust estimation of a location parameter", with the bend at 1.
double huber(double error) {
  const double size = std::abs(error);
  return size <= 1 ? 0.5 * error * error : size - 0.5;
}

}  // namespace

std::unique_ptr<Objective> make_q_agent(const AgentSpec& spec,
                                        NeuralNetwork network,
                                        const AgentPlace& place) {
  const EnvironmentRow* row = find_environment(spec.environment);
  if (row == nullptr) throw std::invalid_argument("unknown environment `" + spec.environment + "`");
  if (network.input().elements() != row->seen.elements() || network.classes != row->actions)
    throw std::invalid_argument("a network made for another environment than `" + row->name + "`");
  if (std::ranges::any_of(network.nodes, [](const Node& n) { return n.op == Op::batch_norm; }))
    throw std::invalid_argument(
        "an agent acts on few rows at a time and cannot take their moments: take `norm: group`");
  return std::make_unique<QAgent>(spec, *row, std::move(network), place);
}

std::uint32_t best_of(std::span<const float> values) {
  std::uint32_t best = 0;
  for (std::uint32_t a = 1; a < values.size(); ++a)
    if (values[a] > values[best]) best = a;
  return best;
}

void QLoss::make_for(std::uint32_t rows) {
  if (rows == rows_) return;
  learning_ = std::make_unique<HostNetwork>(network_, rows, true);
  looking_ = std::make_unique<HostNetwork>(network_, rows, false);
  rows_ = rows;
}

void QLoss::find_targets(std::span<const float> x,
                         std::span<const float> target,
                         const Drawn& drawn) {
  const std::size_t actions = network_.classes;
  best_.resize(rows_);
  y_.resize(rows_);
  std::ranges::copy(drawn.next, looking_->inputs().begin());
  looking_->forward(x, Moments::of_the_batch);
  for (std::size_t k = 0; k < rows_; ++k)
    best_[k] = best_of(looking_->logits().subspan(k * actions, actions));
  std::ranges::copy(drawn.next, looking_->inputs().begin());
  looking_->forward(target, Moments::of_the_batch);
  for (std::size_t k = 0; k < rows_; ++k)
    y_[k] = drawn.rewards[k] + drawn.futures[k] * looking_->logits()[k * actions + best_[k]];
}

double QLoss::value_and_gradient(std::span<const float> x,
                                 std::span<const float> target,
                                 const Drawn& drawn,
                                 std::span<float> g,
                                 std::vector<float>& errors) {
  make_for(drawn.rows());
  find_targets(x, target, drawn);
  std::ranges::copy(drawn.seen, learning_->inputs().begin());
  learning_->forward(x, Moments::of_the_batch);
  const std::span<float> q = learning_->logits();
  const std::size_t actions = network_.classes;
  errors.resize(rows_);
  double loss = 0;
  for (std::size_t k = 0; k < rows_; ++k) {
    const std::span<float> row = q.subspan(k * actions, actions);
    const float error = row[drawn.actions[k]] - y_[k];
    errors[k] = error;
    loss += static_cast<double>(drawn.weights[k]) * huber(static_cast<double>(error));
    std::ranges::fill(row, 0.0F);
    row[drawn.actions[k]] =
        drawn.weights[k] * std::clamp(error, -1.0F, 1.0F) / static_cast<float>(rows_);
  }
  learning_->backward(x, g);
  return loss / rows_;
}

void QLoss::find_errors(std::span<const float> x,
                        std::span<const float> target,
                        const Drawn& drawn,
                        std::vector<float>& errors) {
  make_for(drawn.rows());
  find_targets(x, target, drawn);
  std::ranges::copy(drawn.seen, looking_->inputs().begin());
  looking_->forward(x, Moments::of_the_batch);
  errors.resize(rows_);
  for (std::size_t k = 0; k < rows_; ++k)
    errors[k] = looking_->logits()[k * network_.classes + drawn.actions[k]] - y_[k];
}

}  // namespace gv
