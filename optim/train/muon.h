#pragma once

#include <memory>
#include <vector>

#include "optim/models/model.h"
#include "optim/train/optimizer.h"

namespace gv {

/// Muon: a matrix steps along its orthogonalized momentum, so that all directions count equally,
/// and everything else steps by AdamW. Jordan et al. 2024, kellerjordan.github.io/posts/muon,
/// Algorithm 2: B <- momentum B + G, O = NewtonSchulz5(G + momentum B), or of B without `nesterov`.
/// The length and the decay of a step are those of Liu et al. 2025, "Muon is scalable for LLM
/// training", arXiv:2502.16982, equation 4, with which AdamW's rate and decay suit the matrices,
/// too: W <- W - gamma (0.2 sqrt(max(rows, columns)) O + weight_decay W).
class Muon : public Optimizer {
 public:
  /// Takes the whole gradient of the step that has begun, before its first block.
  virtual void direct(std::span<const float> g) = 0;
};

/// `d` is the length of x. `matrices` are disjoint, inside it, ascending; throws
/// std::invalid_argument if not, and like make_optimizer.
std::unique_ptr<Muon> make_muon(const OptimizerSpec& spec,
                                std::size_t d,
                                const std::vector<HiddenMatrix>& matrices);

/// X <- the result of five Newton-Schulz steps, row-major: its singular values go to about 1 (0.7
/// to 1.2), its singular vectors stay. Jordan et al. 2024: X is divided by its norm + 1e-7, then X
/// <- a X + (b A + c A^2) X, A = X X^T, with (a, b, c) = (3.4445, -4.7750, 2.0315).
void orthogonalize(std::span<float> matrix, std::uint32_t rows, std::uint32_t columns);
/// Number of its multiplications and additions.
double orthogonalize_flops(std::uint32_t rows, std::uint32_t columns);

/// Wraps an objective whose gradients are followed by steps of Muon: gradient_flops includes these.
std::unique_ptr<Objective> make_followed_by_muon(std::unique_ptr<Objective> own,
                                                 const std::vector<HiddenMatrix>& matrices);

}  // namespace gv
