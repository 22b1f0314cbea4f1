#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/schedule/schedule.h"
#include "graph/spectrum/modes.h"
#include "graph/topology/family.h"

namespace gv {

struct ScheduleSpec;

/// A family of schedules: one constant, in the file that makes it. The list of all stands in
/// graph/schedules.cpp.
struct ScheduleFamily {
  std::string_view name;     ///< "base"
  std::string_view summary;  ///< one line, with the source
  std::span<const GraphParameter> parameters = {};
  std::string_view example = {};  ///< parameters with which it can be made for 16 peers
  /// Throws std::invalid_argument where it is impossible.
  std::unique_ptr<MixingSchedule> (*make)(const ScheduleSpec& spec, PeerId n) = nullptr;
  /// All that the per-mode theory needs of it, for any number of peers; null or empty where its
  /// matrices share no modes, or where they would take too long.
  std::optional<Modes> (*modes)(const ScheduleSpec& spec, PeerId n) = nullptr;
  /// Returns what `graph best --schedules` tries; null: nothing.
  SearchGroups (*searched)(const SearchScope& scope) = nullptr;
};

/// A schedule by family and parameters, or a static graph, before the number of peers is known.
struct ScheduleSpec {
  const ScheduleFamily* family = nullptr;  ///< null: a static graph, the schedule of period 1
  GraphParameters parameters;
  TopologySpec topology;               ///< of a static graph, or of a family's parameter `graph`
  std::string weights = "metropolis";  ///< of a static graph

  bool is_static() const { return family == nullptr; }
  /// The topology and, with it, the text of the parameter `graph`.
  void set_graph(TopologySpec graph);
};

/// The inverse of parse_schedule (graph/schedules.h).
std::string to_string(const ScheduleSpec& spec);

/// The modes of a schedule's family; none for a static graph, and where the family has none: see
/// SequenceWalk for those.
std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n);

}  // namespace gv
