#include "gossip/stage_versions.h"

#include <algorithm>

#include "gossip/stage_turns.h"

namespace gv {

std::uint32_t window_of(const StagePlan& chain, PeerId s) {
  return chain.flush ? window_of(s, chain.stages, chain.ahead, chain.microbatches)
                     : window_of(s, chain.stages, 1, chain.stages);
}

std::uint32_t kept_versions(const StagePlan& stage) {
  if (stage.flush) return 0;
  return window_of(stage, stage.vertical_sync ? 0 : stage.stage);
}

std::uint64_t version_of(const StagePlan& stage, std::uint64_t minibatch) {
  return minibatch - std::min<std::uint64_t>(minibatch, kept_versions(stage));
}

std::string name_of_version(const StagePlan& stage, std::uint64_t version) {
  const std::uint64_t kept = std::max(1U, kept_versions(stage));  // 0 has no vector to be named
  return "x " + std::to_string(version % kept);
}

}  // namespace gv
