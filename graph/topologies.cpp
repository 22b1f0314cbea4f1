#include "graph/topologies.h"

#include <algorithm>
#include <stdexcept>

#include "graph/formats/graph_file.h"
#include "graph/spec/nearest.h"

namespace gv {

namespace {

std::string unknown_family(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const TopologyFamily* f : topology_families()) {
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

const TopologyFamily* find_topology_family(std::string_view name) {
  const auto families = topology_families();
  const auto it = std::ranges::find(families, name, &TopologyFamily::name);
  return it == families.end() ? nullptr : *it;
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
