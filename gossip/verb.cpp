#include "gossip/verb.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace gv {
namespace {

constexpr PeerId nobody = std::numeric_limits<PeerId>::max();

/// Returns, of each peer, the next one on its way to peer 0, which is its own.
std::vector<PeerId> ways_to_0(const std::vector<std::vector<PeerId>>& links) {
  std::vector<PeerId> next(links.size(), nobody);
  if (links.empty()) return next;
  next[0] = 0;
  std::vector<PeerId> nearest{0};
  while (!nearest.empty()) {
    std::vector<PeerId> further;
    for (const PeerId i : nearest)
      for (const PeerId j : links[i])
        if (j < next.size() && next[j] == nobody) {
          next[j] = i;
          further.push_back(j);
        }
    std::ranges::sort(further);
    nearest = std::move(further);
  }
  return next;
}

}  // namespace

std::size_t bytes_of(VerbType type) {
  switch (type) {
    case VerbType::bytes:
      return 1;
    case VerbType::float32:
      return sizeof(float);
    case VerbType::float64:
    case VerbType::int64:
      return sizeof(double);
  }
  return 1;
}

std::string objection_to(const VerbCall& call, PeerId trainers) {
  const bool floats = call.type == VerbType::float32 || call.type == VerbType::float64;
  if (call.data.size() % bytes_of(call.type) != 0)
    return fmt::format(
        "{} bytes are no whole number of elements of {}", call.data.size(), bytes_of(call.type));
  if (call.op == VerbOp::broadcast && call.root >= trainers)
    return fmt::format(
        "the root is peer {}, and those that train are 0 to {}", call.root, trainers - 1);
  if (call.op == VerbOp::sum && call.type == VerbType::bytes)
    return "bytes without a type have no sum";
  if ((call.op == VerbOp::mean || call.op == VerbOp::neighbor_average) && !floats)
    return "only floating point numbers have a mean here; whole numbers have a sum";
  return "";
}

std::vector<VerbTree> spanning_tree(const std::vector<std::vector<PeerId>>& links,
                                    PeerId trainers) {
  const std::vector<PeerId> next = ways_to_0(links);
  std::vector<bool> needed(links.size(), false);
  for (PeerId i = 0; i < trainers; ++i) {
    if (i >= links.size() || next[i] == nobody) return {};
    for (PeerId j = i; !needed[j]; j = next[j]) needed[j] = true;
  }
  std::vector<VerbTree> trees(links.size());
  for (PeerId i = 1; i < links.size(); ++i) {
    if (!needed[i]) continue;
    trees[i].parent = next[i];
    trees[next[i]].children.push_back(i);
  }
  return trees;
}

}  // namespace gv
