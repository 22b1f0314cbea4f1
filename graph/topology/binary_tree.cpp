#include "graph/topology/family.h"

namespace gv {
namespace {

Topology build_binary_tree(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back((i - 1) / 2, i);
  return make_topology("binary-tree", n, edges);
}

}  // namespace

extern constinit const TopologyFamily binary_tree_family{
    .name = "binary-tree",
    .summary = "peer 0 is the root, i has the children 2i + 1 and 2i + 2",
    .build = build_binary_tree,
    .drawing = Drawing::tree,
    .searched = search_alone,
};

}  // namespace gv
