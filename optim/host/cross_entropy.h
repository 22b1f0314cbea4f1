#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gv {

/// z (rows x classes, logits) <- (softmax(z) - onehot(label)) / rows, the gradient of the mean
/// cross-entropy by the logits; returns that mean. With `weights`, one for each class, each row of
/// both is multiplied by that of its label.
double softmax_cross_entropy(std::span<float> z,
                             std::span<const std::uint8_t> labels,
                             std::size_t classes,
                             std::span<const float> weights = {});

/// Sums over rows, of cross-entropy and of rows whose largest logit is the label's.
struct Score {
  double loss = 0;
  std::uint64_t correct = 0;
};
Score score_logits(std::span<const float> z,
                   std::span<const std::uint8_t> labels,
                   std::size_t classes);

}  // namespace gv
