#include "gossip/seam/stage.h"

#include <algorithm>

#include "optim/check.h"

namespace gv {

std::uint32_t window_of(std::uint32_t stage,
                        std::uint32_t stages,
                        std::uint32_t ahead,
                        std::uint32_t microbatches) {
  GV_CHECK(stage < stages, "a stage of the chain");
  GV_CHECK(ahead > 0 && microbatches > 0, "at least one of each");
  const std::uint64_t behind = stages - 1 - stage;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(behind * ahead, microbatches - 1));
}

std::vector<StageTurn> turns(std::uint32_t microbatches, std::uint32_t window) {
  std::vector<StageTurn> list;
  std::uint32_t next = 0;
  for (std::uint32_t j = 0; j < microbatches; ++j) {
    for (; next < microbatches && next - j <= window; ++next) list.push_back({true, next});
    list.push_back({false, j});
  }
  return list;
}

std::vector<StageTurn> turns_of_copy(std::vector<StageTurn> all, PeerId copies, PeerId copy) {
  GV_CHECK(copy < copies, "a copy of the stage");
  std::erase_if(all, [=](const StageTurn& turn) { return turn.microbatch % copies != copy; });
  return all;
}

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

std::vector<PeerId> other_members(const StagePlan& stage) {
  std::vector<PeerId> others = stage.members;
  if (!others.empty()) others.erase(others.begin() + stage.member);
  return others;
}

std::vector<PeerId> chain_links(const StagePlan& stage) {
  std::vector<PeerId> links = stage.before;
  for (const PeerId member : other_members(stage)) links.push_back(member);
  links.insert(links.end(), stage.behind.begin(), stage.behind.end());
  return links;
}

}  // namespace gv
