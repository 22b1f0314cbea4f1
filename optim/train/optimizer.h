#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "optim/state.h"

namespace gv {

/// The number of a gradient step, from 0. A round has `local_steps` steps, so a number of rounds is
/// not a number of gradient steps; the type keeps them apart.
struct GradientStep {
  std::uint64_t value = 0;
};

/// gamma_t over gradient steps t = 0, 1, ...
struct LearningRate {
  std::string kind = "constant";  ///< constant | step | linear | cosine | lian
  std::uint64_t total = 0;        ///< linear, cosine, lian: number of gradient steps K
  std::uint64_t every = 1000;     ///< step: number of steps between multiplications by `factor`
  double factor = 0.1;
  std::uint64_t warmup = 0;  ///< steps of linear warm-up; then linear or cosine decay
  double lipschitz =
      1;  ///< lian: gamma = 1 / (2 L + sigma sqrt(K / n)); arXiv:1705.09056, Corollary 2
  double sigma = 1;
  std::uint32_t peers = 1;
  /// Steps per round of this peer, and of the fleet's peers on average. If they differ, a peer's
  /// own steps are longer or shorter, so that gamma times steps is equal for all: see own_rate.
  std::uint32_t own_steps = 1, mean_steps = 1;
  /// gamma_t of the fleet, with t counting the steps of this peer: equal bits at every peer's first
  /// step of a round, whatever the number of steps each takes.
  double rate(double lr, GradientStep t) const;
  /// Returns the rate of this peer's steps: gamma_t mean_steps / own_steps. Wang, Liu, Liang, Joshi
  /// & Poor, "Tackling the objective inconsistency problem in heterogeneous federated
  /// optimization", NeurIPS 2020, arXiv:2007.07481: peers that accumulate their gradients with the
  /// weights a_i converge to sum_i |a_i|_1 grad f_i = 0 (Theorem 1), so |a_i|_1 has to be equal for
  /// all. Their FedNova scales a peer's movement in a round; here its rate is scaled beforehand,
  /// which has the same |a_i|_1 and needs no extra vector.
  double own_rate(double lr, GradientStep t) const { return rate(lr, t) * weight(); }
  double weight() const { return static_cast<double>(mean_steps) / own_steps; }
};

struct OptimizerSpec {
  /// sgd | adam | adamw; for a server also adagrad, adaptive-revision or a ServerOptimizer.
  std::string kind = "sgd";
  double lr = 0.1;
  double momentum = 0;  ///< sgd: u <- momentum u + g; x <- x - lr u (PyTorch's form)
  bool nesterov = false;
  /// Added to the gradient (L2), as in PyTorch's SGD and Adam. With adamw, x shrinks by gamma times
  /// weight_decay, separately from the step; Loshchilov & Hutter 2019, arXiv:1711.05101, Algorithm
  /// 2, with gamma placed as in PyTorch.
  double weight_decay = 0;
  /// adam, adamw; Kingma & Ba 2015, arXiv:1412.6980.
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  /// adam, adamw: number of gradients that enter the moments together, as their mean.
  std::uint64_t accumulate = 1;
  /// Maximum length of a minibatch's gradient, which is scaled down (wrapped_objective.h); 0 for
  /// none.
  double clip_norm = 0;
  LearningRate schedule;
};

/// x <- x - gamma_t direction(g), elementwise, so that it can be applied block by block, in one
/// pass with mixing. Owns momentum or moments.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void
  begin_step() = 0;  ///< fixes gamma_t and the bias corrections of step t; then every block once
  virtual double rate() const = 0;  ///< gamma_t of the next step: LearningRate::rate
  virtual void apply(std::size_t offset, std::span<float> x, std::span<const float> g) = 0;

  /// Applies a gradient that was computed before others were applied; `missed` is their sum.
  /// Supported only by adaptive-revision; the others throw std::logic_error.
  virtual void revise(std::size_t offset,
                      std::span<float> x,
                      std::span<const float> g,
                      std::span<const float> missed);

  /// Saves momentum or moments and every counter, between two steps.
  virtual void save(StateWriter& out) const = 0;
  virtual void restore(StateReader& in) = 0;
  /// Continues the schedule as if t steps had been done. Momentum and moments stay, and Adam's bias
  /// correction continues to count the steps that they include.
  virtual void skip_to(GradientStep t) = 0;
};

/// `d` is the length of x. Throws std::invalid_argument for an unknown kind or nesterov without
/// momentum.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::size_t d);

/// Makes Adam or AdamW whose moments take s = spec.accumulate gradients at once, as their mean:
/// they see the noise of a minibatch that is s times as large, while x steps by each gradient. With
/// M, V the moments of the completed windows of s steps, k the number of windows begun: m = beta1 M
/// + (1 - beta1) g, v = beta2 V + (1 - beta2) g^2, x <- x - gamma m / (1 - beta1^k) / (sqrt(v / (1
/// - beta2^k)) + epsilon); at the last step of a window with mean gradient b, M <- beta1 M + (1 -
/// beta1) b, V <- beta2 V + (1 - beta2) b^2. Wang, Zhang, Wu & Johansson, "From promise to
/// practice: realizing high-performance decentralized training", ICLR 2025, arXiv:2410.11998,
/// Appendix C, as in their AccumAdam and AccumAdamW: beta2 in V's rule, and epsilon outside the
/// root. Ours: windows count this peer's own steps, and an incomplete one continues after a
/// checkpoint. With d-psgd in its own order it is their decentralized Adam. `d` is the length of x.
/// Keeps 3 vectors.
std::unique_ptr<Optimizer> make_accumulated_adam(const OptimizerSpec& spec, std::size_t d);

/// Returns whether `kind` is one of the rules below: fed-adagrad, fed-adam or fed-yogi.
bool is_server_optimizer(const std::string& kind);

/// Makes the optimizer of a server of federated averaging, which steps along g = -Delta, Delta
/// being the mean movement of the drawn peers: m <- beta1 m + (1 - beta1) g; v <- v + g^2
/// (fed-adagrad), beta2 v + (1 - beta2) g^2 (fed-adam) or v - (1 - beta2) g^2 sign(v - g^2)
/// (fed-yogi); x <- x - gamma m / (sqrt(v) + tau). tau is spec.epsilon, v begins at tau^2, and
/// there is no correction for the initial m of zero. Reddi, Charles, Zaheer, Garrett, Rush,
/// Konecny, Kumar & McMahan, "Adaptive federated optimization", ICLR 2021, arXiv:2003.00295,
/// Algorithm 2. `d` is the length of x.
std::unique_ptr<Optimizer> make_server_optimizer(const OptimizerSpec& spec, std::size_t d);

}  // namespace gv
