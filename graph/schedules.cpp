#include "graph/schedules.h"

#include <algorithm>
#include <stdexcept>

#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {

extern const ScheduleFamily matrices_family;

namespace {

const ScheduleFamily* find_family(std::string_view name) {
  const auto families = schedule_families();
  const auto it = std::ranges::find(families, name, &ScheduleFamily::name);
  return it == families.end() ? nullptr : *it;
}

std::unique_ptr<MixingSchedule> static_schedule(const ScheduleSpec& spec, PeerId n) {
  const MixingMatrix w = mixing_matrix(spec.weights, build(spec.topology, n));
  return std::make_unique<PeriodicSchedule>(std::vector<MixingMatrix>{w});
}

}  // namespace

bool is_schedule(std::string_view text) {
  return find_family(text.substr(0, text.find(':'))) != nullptr;
}

ScheduleSpec parse_schedule(std::string_view text) {
  ScheduleSpec spec;
  const auto colon = text.find(':');
  spec.family = find_family(text.substr(0, colon));
  if (spec.is_static()) {
    spec.topology = parse_topology(text);
    return spec;
  }
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  spec.parameters = parse_parameters(spec.family->name, spec.family->parameters, rest);
  if (spec.parameters.has("graph")) {
    const std::string graph = spec.parameters.text("graph");
    spec.set_graph(graph.empty() ? TopologySpec{} : parse_topology(graph));
  }
  return spec;
}

bool is_file(const ScheduleSpec& spec) {
  return spec.family == &matrices_family;
}

std::unique_ptr<MixingSchedule> make_schedule(const ScheduleSpec& spec, PeerId n) {
  if (n == 0) throw std::invalid_argument("a fleet needs at least one peer");
  return spec.is_static() ? static_schedule(spec, n) : spec.family->make(spec, n);
}

}  // namespace gv
