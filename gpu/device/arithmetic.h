#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "optim/data/dataset.h"

// Operations of kernels on one element, or on one row. The same functions are compiled for the
// device and for the host; the tests compare the host's with HostReplica and Optimizer, bit for
// bit. No product may be contracted with a sum into a fused multiply-add, on either side
// (-fmad=false, -ffp-contract=off): both ends of an edge must compute bitwise opposite flows, and
// one end may be a CPU.

#ifdef __CUDACC__
#define GV_BOTH __host__ __device__
#else
#define GV_BOTH
#endif

namespace gv::gpu {

GV_BOTH inline bool is_finite(float value) {
  return value - value == 0.0F;
}

GV_BOTH inline float finite_or_zero(float flow) {
  return is_finite(flow) ? flow : 0.0F;
}

/// Returns w (theirs - ours), or 0 if it is not finite: the bitwise opposite of the other end's.
GV_BOTH inline float flow(float w, float theirs, float ours) {
  return finite_or_zero(w * (theirs - ours));
}

/// Rule of one gradient step, with the numbers of Optimizer::begin_step.
struct StepRule {
  enum class Kind : std::uint8_t { plain, momentum, nesterov, adam, adamw };
  Kind kind = Kind::plain;
  float decay = 0;     ///< added to the gradient, times x; adamw: gamma times it, taken off x
  float gamma = 0;     ///< plain, momentum, nesterov
  float momentum = 0;  ///< momentum, nesterov
  // adam and adamw; Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter 2019, arXiv:1711.05101.
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float size = 0;  ///< gamma / (1 - beta1^t)
  float root = 0;  ///< 1 / sqrt(1 - beta2^t)
};

/// Returns whether the rule keeps a second vector.
GV_BOTH constexpr bool has_moments(StepRule::Kind kind) {
  return kind == StepRule::Kind::adam || kind == StepRule::Kind::adamw;
}

/// x <- x - gamma direction(g). first: velocity or first moment; second: second moment. Operations
/// have the same order as in optim/train/optimizer.cpp.
template <StepRule::Kind kind>
GV_BOTH inline void step(const StepRule& rule, float& x, float g, float& first, float& second) {
  float gradient = g;
  if constexpr (kind == StepRule::Kind::adamw)
    x -= rule.decay * x;
  else
    gradient += rule.decay * x;
  if constexpr (kind == StepRule::Kind::plain) {
    x -= rule.gamma * gradient;
  } else if constexpr (kind == StepRule::Kind::momentum) {
    first = rule.momentum * first + gradient;
    x -= rule.gamma * first;
  } else if constexpr (kind == StepRule::Kind::nesterov) {
    first = rule.momentum * first + gradient;
    x -= rule.gamma * (gradient + rule.momentum * first);
  } else {
    first = rule.beta1 * first + (1 - rule.beta1) * gradient;
    second = rule.beta2 * second + (1 - rule.beta2) * gradient * gradient;
    x -= rule.size * first / (sqrtf(second) * rule.root + rule.epsilon);
  }
}

/// Returns a feature of a picture from its byte, as Dataset::gather.
GV_BOTH inline float widen(std::uint8_t byte, float shift, float scale) {
  return (static_cast<float>(byte) * (1.0F / 255) - shift) * scale;
}

/// Returns the offset in the plane of the source of pixel (y, x) of a picture of height x width
/// under a view, or -1 beyond the edges; as optim/data/dataset.cpp.
GV_BOTH inline std::int64_t seen(
    const View& view, std::int32_t height, std::int32_t width, std::int32_t y, std::int32_t x) {
  const std::int32_t from_y = y + view.down;
  const std::int32_t from_x = (view.mirrored ? width - 1 - x : x) + view.right;
  const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
  return inside ? std::int64_t{from_y} * width + from_x : -1;
}

/// One row of softmax_cross_entropy: z (classes) <- (softmax(z) - onehot(label)) share; returns the
/// row's loss, not yet divided by the number of rows.
GV_BOTH inline double cross_entropy_row(float* z,
                                        std::uint32_t label,
                                        std::uint32_t classes,
                                        float share) {
  float top = z[0];
  for (std::uint32_t c = 1; c < classes; ++c) top = top < z[c] ? z[c] : top;
  const float target = z[label] - top;
  float sum = 0;
  for (std::uint32_t c = 0; c < classes; ++c) {
    z[c] = expf(z[c] - top);
    sum += z[c];
  }
  for (std::uint32_t c = 0; c < classes; ++c) z[c] *= share / sum;
  z[label] -= share;
  return static_cast<double>(logf(sum) - target);
}

/// One row of score_logits: returns its cross-entropy; `correct` <- the first largest logit is
/// right.
GV_BOTH inline double score_row(const float* z,
                                std::uint32_t label,
                                std::uint32_t classes,
                                bool& correct) {
  std::uint32_t top = 0;
  for (std::uint32_t c = 1; c < classes; ++c) top = z[top] < z[c] ? c : top;
  correct = top == label;
  double sum = 0;
  for (std::uint32_t c = 0; c < classes; ++c) sum += exp(static_cast<double>(z[c] - z[top]));
  return log(sum) - static_cast<double>(z[label] - z[top]);
}

}  // namespace gv::gpu
