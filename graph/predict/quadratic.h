#pragma once

#include <string>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/spectrum/modes.h"

namespace gv {

/// Peers that minimize the mean of f_i(x) = 1/2 (x - b_i)^T diag(h) (x - b_i) from gradients with
/// additive noise, and how they do it. The Hessian is common to all.
struct QuadraticFleet {
  std::vector<double> hessian{1.0};  ///< h_k > 0, one per coordinate
  double noise = 1;                  ///< s^2: variance of a gradient, per coordinate
  double spread = 0;    ///< variance of the centres b_i over peers, per coordinate: of a draw from
                        ///< N(0, spread), of which the prediction is the expectation
  double rate = 0.1;    ///< gamma
  double momentum = 0;  ///< u <- momentum u + g, x <- x - gamma u (orders lian, atc, cta);
                        ///< decentlam and momentum-tracking: their beta, gut: its mu, motef:
                        ///< 1 - lambda
  bool nesterov = false;       ///< x <- x - gamma (g + momentum u) instead (PyTorch's form)
  unsigned local_steps = 1;    ///< SGD steps per averaging, the last one with it (same orders, led
                               ///< and k-gt)
  unsigned staleness = 0;      ///< rounds by which the neighbours' vectors are old (order lian)
  double consensus_step = 1;   ///< gamma of beer and motef: W is I + gamma (W - I) there
  double self_weight = 0;      ///< W_ii, the same for all i; used when staleness > 0
  std::string order = "lian";  ///< see quadratic_orders()
};

/// lian: X W - gamma G(X); atc: (X - gamma G(X)) W; cta: Y = X W, Y - gamma G(Y) (Lian et al. 2017,
/// arXiv:1705.09056, Algorithm 1 and the remark after it). d2: X_{k+1} = (2 X_k - X_{k-1} - gamma
/// (G_k - G_{k-1})) W (Tang et al. 2018, arXiv:1803.07068, Algorithm 1). gradient-tracking: DSGT, X
/// <- (X - gamma Y) W, Y <- Y W + G_{k+1} - G_k (Pu & Nedic 2021, arXiv:1805.11454, Algorithm 1);
/// not DIGing, X <- X W - gamma Y (Nedic, Olshevsky & Shi 2017, arXiv:1607.03218), which settles
/// elsewhere and at smaller rates. aug-dgm: Y <- (Y + G_{k+1} - G_k) W instead (Xu et al. 2015;
/// Nedic, Olshevsky, Shi & Uribe 2017, arXiv:1609.05877). momentum-tracking: gradient-tracking with
/// U <- momentum U + G instead of G (Takezawa et al. 2023, arXiv:2209.15505, Algorithm 1).
/// extra: X_{k+1} = X_k (I + W) - X_{k-1} (I + W) / 2 - gamma (G_k
/// - G_{k-1}) (Shi, Ling, Wu & Yin 2015, arXiv:1404.6264, Algorithm 1). nids: d2 on (I + W) / 2,
/// but for the first step (Li, Shi & Yan 2019, arXiv:1704.07807, Algorithm 1 with c alpha = 1 / 2).
/// led: d2 with local steps, over which its correction is spread (Alghunaim 2024, arXiv:2302.00620,
/// beta = 1 / tau). k-gt: gradient-tracking with local steps (Liu et al. 2023, arXiv:2301.01313,
/// Algorithm 1 with eta_s = 1). decentlam: atc with the momentum of the model's moves (Yuan et al.
/// 2021, arXiv:2104.11981, Algorithm 2). gut: cta that tracks flows (Aketi et al. 2023,
/// arXiv:2305.04792). beer: X <- X W - gamma Y, Y <- Y W + G_{k+1} - G_k, without compression (Zhao
/// et al. 2022, arXiv:2201.13320, Algorithm 1). motef: beer with U <- momentum U + (1 - momentum) G
/// instead of G (Islamov et al. 2024, arXiv:2405.20114, Algorithm 1).
const std::vector<std::string>& quadratic_orders();
/// Returns whether peers of unlike centres come to rest at the minimum: all but lian, atc, cta,
/// decentlam and gut.
bool corrects_bias(const QuadraticFleet& fleet);

/// Expectations in the stationary state, after a round; the mean over the rounds of a period.
struct Stationary {
  Estimate consensus;     ///< (1/n) sum_i E ||x_i - mean x||^2
  Estimate excess_mean;   ///< E f(mean x) - f*
  Estimate excess_local;  ///< (1/n) sum_i E f(x_i) - f*
};

/// Exact for the modes it is given. In the basis of W's modes and the Hessian's axes a round is an
/// affine map z -> M z + c d + N xi of a vector of at most three numbers; its second moment solves
/// P = M P M^H + s^2 N N^H. Empty when some mode is unstable. Throws std::invalid_argument for an
/// unknown order or a combination that has no theory here.
std::optional<Stationary> predict(const Modes& modes, const QuadraticFleet& fleet);

/// Returns why these modes have no theory in this order; "" if they have. A method that corrects
/// the bias moves the vectors that both ends of an edge have sent each other, so W must be
/// undirected and, except for gradient-tracking, momentum-tracking and k-gt, constant.
std::string why_no_theory(const Modes& modes, const QuadraticFleet& fleet);

/// Throws std::invalid_argument if predict does.
void require_theory(const Modes& modes, const QuadraticFleet& fleet);

/// Returns whether every mode is stable on the first of the fleet's axes at its rate.
bool is_stable(const Modes& modes, const QuadraticFleet& fleet);

/// Returns the consensus distance and the excess losses without noise at rest, for known centres:
/// centers[i][k] = b_ik, n rows with one number for each of fleet.hessian. All are 0 for an order
/// that corrects the bias (corrects_bias), because it comes to rest at the minimum (Tang et al.
/// 2018, arXiv:1803.07068). Ignores fleet.spread and fleet.noise; the fleet must be stable. Solves
/// a linear system in W, so it costs no more near the limit of stability. Throws
/// std::invalid_argument if the shape does not fit.
Stationary rest_of_centers(const MixingMatrix& w,
                           const QuadraticFleet& fleet,
                           const std::vector<std::vector<double>>& centers);

/// predict() for known centres instead of drawn ones: the noise's part plus rest_of_centers.
std::optional<Stationary> predict_centers(const MixingMatrix& w,
                                          const Modes& modes,
                                          const QuadraticFleet& fleet,
                                          const std::vector<std::vector<double>>& centers);

}  // namespace gv
