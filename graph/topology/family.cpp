#include "graph/topology/family.h"

#include <stdexcept>

#include "graph/topology/lattice.h"

namespace gv {

SearchGroups search_alone(const SearchScope&) {
  return {{""}};
}

SearchGroups search_shapes(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId rows = 3; rows * rows <= scope.peers; ++rows) {
    if (scope.peers % rows == 0)
      groups.push_back({std::to_string(rows) + "x" + std::to_string(scope.peers / rows)});
  }
  return groups;
}

std::vector<std::string> with_seeds(const std::string& parameters, const SearchScope& scope) {
  std::vector<std::string> group;
  for (int seed = 1; seed <= scope.seeds; ++seed)
    group.push_back(parameters + ",seed=" + std::to_string(seed));
  return group;
}

bool TopologySpec::is_file() const {
  return parameters.has("file");
}

const std::string& TopologySpec::file() const {
  return parameters.text("file");
}

std::string to_string(const TopologySpec& spec) {
  return to_string(spec.family->name, spec.parameters);
}

Topology build(const TopologySpec& spec, PeerId n) {
  if (n == 0) throw std::invalid_argument("a fleet needs at least one peer");
  Topology t = spec.family->build(spec.parameters, n);
  t.name = to_string(spec.family->name, with_shape(*spec.family, spec.parameters, n));
  return t;
}

}  // namespace gv
