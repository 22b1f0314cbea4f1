#include "optim/host/cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace gv {

double softmax_cross_entropy(std::span<float> z,
                             std::span<const std::uint8_t> labels,
                             std::size_t classes,
                             std::span<const float> weights) {
  const float equal = 1.0F / static_cast<float>(labels.size());
  double loss = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const float weight = weights.empty() ? 1.0F : weights[labels[r]];
    const float share = equal * weight;
    const std::span<float> row = z.subspan(r * classes, classes);
    const float top = *std::ranges::max_element(row);
    const float target = row[labels[r]] - top;
    float sum = 0;
    for (float& value : row) {
      value = std::exp(value - top);
      sum += value;
    }
    loss += static_cast<double>(weight) * static_cast<double>(std::log(sum) - target);
    for (float& value : row) value *= share / sum;
    row[labels[r]] -= share;
  }
  return loss / static_cast<double>(labels.size());
}

Score score_logits(std::span<const float> z,
                   std::span<const std::uint8_t> labels,
                   std::size_t classes) {
  Score score;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = z.subspan(r * classes, classes);
    const auto top = std::ranges::max_element(row);
    if (static_cast<std::size_t>(top - row.begin()) == labels[r]) ++score.correct;
    double sum = 0;
    for (const float value : row) sum += std::exp(static_cast<double>(value - *top));
    score.loss += std::log(sum) - static_cast<double>(row[labels[r]] - *top);
  }
  return score;
}

}  // namespace gv
