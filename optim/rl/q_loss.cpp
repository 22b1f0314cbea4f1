#include "optim/rl/q_loss.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

/// Huber 1964, "Robust estimation of a location parameter", with the bend at 1.
double huber(double error) {
  const double size = std::abs(error);
  return size <= 1 ? 0.5 * error * error : size - 0.5;
}

}  // namespace

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
