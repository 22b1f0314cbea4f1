#include "graph/topologies.h"

#include <algorithm>
#include <stdexcept>

#include "graph/formats/graph_file.h"
#include "graph/spec/nearest.h"

namespace gv {

extern const TopologyFamily path_family;
extern const TopologyFamily star_family;
extern const TopologyFamily complete_family;
extern const TopologyFamily grid_family;
extern const TopologyFamily torus_family;
extern const TopologyFamily king_torus_family;
extern const TopologyFamily ring_lattice_family;
extern const TopologyFamily binary_tree_family;
extern const TopologyFamily hypercube_family;
extern const TopologyFamily exponential_family;
extern const TopologyFamily symmetric_exponential_family;
extern const TopologyFamily random_regular_family;
extern const TopologyFamily erdos_renyi_family;
extern const TopologyFamily small_world_family;
extern const TopologyFamily d_equi_static_family;
extern const TopologyFamily u_equi_static_family;

namespace {

constexpr const TopologyFamily* families[] = {
    &ring_family,           &path_family,        &star_family,        &complete_family,
    &grid_family,           &torus_family,       &king_torus_family,  &ring_lattice_family,
    &binary_tree_family,    &hypercube_family,   &exponential_family, &symmetric_exponential_family,
    &random_regular_family, &erdos_renyi_family, &small_world_family, &d_equi_static_family,
    &u_equi_static_family,  &file_family,
};

std::string unknown_family(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const TopologyFamily* f : families) {
    names.emplace_back(f->name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  return "unknown topology `" + name + "`; " + did_you_mean(nearest(name, names), "known: " + list);
}

bool begins_topology(std::string_view piece, const std::string& before) {
  if (find_topology_family(piece.substr(0, piece.find(':'))) != nullptr) return true;
  const std::size_t equals = piece.find('=');
  const bool parameter = equals != std::string_view::npos && equals < piece.find(':');
  return !parameter && !before.starts_with("file:");
}

}  // namespace

std::span<const TopologyFamily* const> topology_families() {
  return families;
}

const TopologyFamily* find_topology_family(std::string_view name) {
  const auto it = std::ranges::find(families, name, &TopologyFamily::name);
  return it == std::end(families) ? nullptr : *it;
}

TopologySpec parse_topology(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const TopologyFamily* family = find_topology_family(name);
  if (family == nullptr) throw std::invalid_argument(unknown_family(std::string(name)));
  if (colon != std::string_view::npos)
    return {family, parse_parameters(name, family->parameters, text.substr(colon + 1))};
  if (family == &file_family) throw std::invalid_argument("file: write file:PATH");
  return {family, GraphParameters(family->parameters)};
}

std::optional<TopologySpec> spec_of_name(const Topology& t) {
  try {
    return parse_topology(t.name);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

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
