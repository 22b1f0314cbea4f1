#include "gossip/objections.h"

#include <fmt/format.h>

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
      kind,
      by);
}

std::string objection_to_other_steps(const Setup& setup, std::string_view kind) {
  if (takes_plain_steps(setup.optimizer)) return "";
  return fmt::format(
      "{} tells a peer's gradients from how far its steps have moved it: take "
      "`train.optimizer: {{ kind: sgd }}` without momentum",
      kind);
}

}  // namespace gv
