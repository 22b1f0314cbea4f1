#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gossip/algorithm.h"
#include "gossip/seam/setup.h"

namespace gv {

// Shared objections of methods: each function returns why a method rejects this setup, and the
// nearest alternative; "" if the method accepts it. `kind`: the method's name in the fleet file.

/// For a method whose corrections are for a single gradient in each round.
std::string objection_to_many_steps(const Setup& setup, std::string_view kind);

/// For a method with a momentum of its own, which the option `by` sets.
std::string objection_to_second_momentum(const Setup& setup,
                                         std::string_view kind,
                                         std::string_view by);

/// For a method that computes a peer's gradients from its move, divided by the rate.
std::string objection_to_other_steps(const Setup& setup, std::string_view kind);

/// For a method that waits for its neighbours while it takes steps: any other wait would hold up
/// messages that are under way.
std::string objection_to_waits(const Setup& setup, std::string_view kind);

/// For a method that continues for `delay` inner steps before it waits.
std::string objection_to_delay(const Setup& setup, std::string_view kind);

/// For a method that ends at the optimum of all peers' data: gradients that each peer shortens by
/// its own factor no longer add up to zero there.
std::string objection_to_clip_norm(const Setup& setup, std::string_view kind);

/// Alternatives for setups that a method with remembered flows rejects.
struct Instead {
  std::string_view of_adam = "gradient-tracking";  ///< steps of each peer's own size
  std::string_view of_schedule = "gradient-tracking";
};

/// Alternatives for methods with several steps between two exchanges.
inline constexpr Instead instead_of_local_steps{.of_adam = "noloco", .of_schedule = "k-gt"};

/// Returns why a method that moves the model by all past flows of averaging (D2, EXTRA, NIDS, LED,
/// ProxSkip) rejects this setup, whatever its W; "" if it accepts it. `kind`: name of the method in
/// the fleet file.
std::string objection_to_remembered_flows(const Setup& setup,
                                          std::string_view kind,
                                          Instead instead = {});

/// Limit of divergence: a method diverges if lambda_n of W is `least` or less.
struct Limit {
  double least = -1.0 / 3;
  std::string_view says = "-1/3";  ///< `least` as text
  std::string_view beside{};       ///< text of another remedy, to append to `weights: lazy`
};

/// Returns why a method diverges under this W; "" if it does not, or if `w` is null or directed,
/// which is rejected for all methods of its kind.
std::string objection_to_lambda_n(std::string_view kind, const MixingMatrix* w, Limit limit);

/// Returns the least eigenvalue of I - step (I - W). Nothing if `w` is null or directed, which is
/// rejected for all methods of its kind.
std::optional<double> least_eigenvalue(const MixingMatrix* w, double step = 1);

/// Returns least_eigenvalue() if it is -1/3 or less: there D2 diverges (Tang et al. 2018,
/// Assumption 1), and every method that equals D2 without gradients. Nothing if it is greater.
std::optional<double> diverging_eigenvalue(const MixingMatrix* w, double step = 1);

}  // namespace gv
