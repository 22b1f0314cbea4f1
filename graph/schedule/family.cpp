#include "graph/schedule/family.h"

#include <utility>

namespace gv {

void ScheduleSpec::set_graph(TopologySpec graph) {
  topology = std::move(graph);
  parameters.set("graph", to_string(topology));
}

std::string to_string(const ScheduleSpec& spec) {
  if (spec.is_static()) return to_string(spec.topology);
  return to_string(spec.family->name, spec.parameters);
}

std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n) {
  if (spec.is_static() || spec.family->modes == nullptr) return std::nullopt;
  return spec.family->modes(spec, n);
}

}  // namespace gv
