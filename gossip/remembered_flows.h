#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gossip/algorithm.h"

namespace gv {

/// The methods that take what one of remembered flows does not.
struct Instead {
  std::string_view of_adam = "gradient-tracking";  ///< steps of each peer's own size
  std::string_view of_schedule = "gradient-tracking";
};

/// The same for those with several steps between two exchanges.
inline constexpr Instead instead_of_local_steps{.of_adam = "noloco", .of_schedule = "k-gt"};

/// Returns why a method that moves the model by all past flows of averaging (D2, EXTRA, NIDS, LED,
/// ProxSkip) does not take this setup, whatever its W; "": it does. `kind`: as the fleet file names
/// it.
std::string objection_to_remembered_flows(const Setup& setup,
                                          std::string_view kind,
                                          Instead instead = {});

/// Where a method diverges: lambda_n of W is `least` or less.
struct Limit {
  double least = -1.0 / 3;
  std::string_view says = "-1/3";  ///< the same as it is told
  std::string_view beside{};       ///< what else than `weights: lazy` helps, behind it
};

/// Returns why a method diverges under this W; "": it does not, or `w` is null or directed, which
/// is refused for all methods of its kind.
std::string objection_to_lambda_n(std::string_view kind, const MixingMatrix* w, Limit limit);

/// The least eigenvalue of I - step (I - W). Nothing: `w` is null or directed, which is refused for
/// all methods of its kind.
std::optional<double> least_eigenvalue(const MixingMatrix* w, double step = 1);

/// The same, where it is -1/3 or less: there D2 diverges (Tang et al. 2018, Assumption 1), and
/// every method that is D2 where nobody has a gradient. Nothing: it is above that.
std::optional<double> diverging_eigenvalue(const MixingMatrix* w, double step = 1);

}  // namespace gv
