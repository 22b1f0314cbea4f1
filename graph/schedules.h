#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "graph/schedule/schedule.h"

namespace gv {

/// Every family of schedules. To add one: its file in graph/schedule/, and its name in
/// graph/CMakeLists.txt.
std::span<const ScheduleFamily* const> schedule_families();

/// Returns whether `text`, "name" or "name:parameters", names a schedule rather than a topology.
bool is_schedule(std::string_view text);

/// Parses "one-peer-exponential", "random-matching:seed=1", "base:k=2",
/// "matcha:budget=0.5,seed=1,graph=torus:4x4" (graph= comes last), or any topology: the schedule of
/// period 1. Throws std::invalid_argument with what is wrong.
ScheduleSpec parse_schedule(std::string_view text);

/// Returns whether its matrices are the user's own, in the file that the parameter `file` names.
bool is_file(const ScheduleSpec& spec);

/// Throws std::invalid_argument when it is impossible on n peers.
std::unique_ptr<MixingSchedule> make_schedule(const ScheduleSpec& spec, PeerId n);

}  // namespace gv
