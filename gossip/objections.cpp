#include "gossip/objections.h"

#include <fmt/format.h>

#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

bool takes_plain_steps(const OptimizerSpec& o) {
  return o.kind == "sgd" && o.momentum == 0;
}

}  // namespace

std::string objection_to_many_steps(const Setup& setup, std::string_view kind) {
  if (setup.local_steps == 1) return "";
  return fmt::format(
      "{} corrects every gradient: train.local_steps must be 1; `led` and `k-gt` take more", kind);
}

std::string objection_to_second_momentum(const Setup& setup,
                                         std::string_view kind,
                                         std::string_view by) {
  if (takes_plain_steps(setup.optimizer)) return "";
  return fmt::format(
      "{} brings its own momentum: take `train.optimizer: {{ kind: sgd }}` without momentum, and "
      "set {}",
      kind, by);
}

std::string objection_to_other_steps(const Setup& setup, std::string_view kind) {
  if (takes_plain_steps(setup.optimizer)) return "";
  return fmt::format(
      "{} computes a peer's gradients from how far its steps have moved it: take "
      "`train.optimizer: {{ kind: sgd }}` without momentum",
      kind);
}

std::string objection_to_waits(const Setup& setup, std::string_view kind) {
  if (setup.actors > 0)
    return fmt::format(
        "{} waits for its neighbours while it learns, and cannot wait for a memory as well: take "
        "`diloco`, or no `agent.actors`",
        kind);
  if (setup.data_servers > 0)
    return fmt::format(
        "{} waits for its neighbours while it trains, and cannot wait for minibatches as well: "
        "take `diloco`, or no `data.servers`",
        kind);
  return "";
}

std::string objection_to_delay(const Setup& setup, std::string_view kind) {
  const double delay = setup.settings.find("delay")->second;
  if (delay > setup.local_steps)
    return fmt::format(
        "the `delay` of {} is in inner steps, and a round has {}: take as many at most, or more "
        "train.local_steps",
        kind, setup.local_steps);
  if (delay > 0 && !setup.own_steps.empty())
    return fmt::format(
        "{} counts its `delay` in inner steps, which all take alike: give a number of "
        "train.local_steps, or take `diloco`",
        kind);
  return "";
}

std::string objection_to_clip_norm(const Setup& setup, std::string_view kind) {
  if (setup.optimizer.clip_norm == 0) return "";
  return fmt::format(
      "{} ends at the optimum of all peers' data, but `clip_norm` scales each peer's gradient by "
      "its own factor, which shifts that point: leave out `train.optimizer.clip_norm`, or take "
      "`d-psgd`",
      kind);
}

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
