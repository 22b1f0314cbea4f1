#include "gossip/remembered_flows.h"

#include <fmt/format.h>

#include "graph/spectrum/spectrum.h"

namespace gv {

std::string objection_to_remembered_flows(const Setup& setup,
                                          std::string_view kind,
                                          Instead instead) {
  if (setup.optimizer.kind != "sgd")
    return fmt::format(
        "{} corrects for the part in which the peers' gradients differ, and `{}` gives each peer "
        "steps of its own size, which pulls the models away from the optimum: take "
        "`train.optimizer: {{ kind: sgd }}`, or `{}`",
        kind, setup.optimizer.kind, instead.of_adam);
  if (setup.scheduled)
    return fmt::format(
        "{} sums past flows under one fixed W, and this topology has another one in every round: "
        "take a fixed topology, such as `ring` with `weights: lazy`, or `{}`",
        kind, instead.of_schedule);
  return "";
}

std::string objection_to_lambda_n(std::string_view kind, const MixingMatrix* w, Limit limit) {
  const std::optional<double> least = least_eigenvalue(w);
  if (!least || *least > limit.least + 1e-9) return "";
  return fmt::format(
      "{} diverges when lambda_n <= {}, and this W has lambda_n = {:.4g}: take `weights: lazy`, "
      "which is (I + W) / 2{}",
      kind, limit.says, *least, limit.beside);
}

std::optional<double> least_eigenvalue(const MixingMatrix* w, double step) {
  if (w == nullptr || w->directed()) return std::nullopt;
  const double lambda = w->size() == 1 ? 0 : spectrum(*w).lambda_n.value_or(0);
  return 1 - step * (1 - lambda);
}

std::optional<double> diverging_eigenvalue(const MixingMatrix* w, double step) {
  const std::optional<double> least = least_eigenvalue(w, step);
  return least && *least <= -1.0 / 3 + 1e-9 ? least : std::nullopt;
}

}  // namespace gv
