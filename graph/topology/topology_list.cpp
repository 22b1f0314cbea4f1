#include "graph/topology/topology_list.h"

#include <algorithm>

#include "graph/topology/family.h"

namespace gv {
namespace {

bool begins_topology(std::string_view piece, const std::string& before) {
  const std::string_view name = piece.substr(0, piece.find(':'));
  const auto named = [name](const Family& f) { return f.kind == name; };
  if (std::ranges::any_of(families(), named)) return true;
  const std::size_t equals = piece.find('=');
  const bool parameter = equals != std::string_view::npos && equals < piece.find(':');
  return !parameter && !before.starts_with("file:");
}

}  // namespace

std::vector<std::string> split_topologies(std::string_view list) {
  std::vector<std::string> topologies;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::string_view piece = list.substr(from, comma - from);
    if (topologies.empty() || begins_topology(piece, topologies.back())) {
      topologies.emplace_back(piece);
    } else {
      topologies.back() += ',' + std::string(piece);
    }
    from = comma + 1;
  }
  return topologies;
}

}  // namespace gv
