#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peer/show/live/observed_run.h"

namespace gv {

/// A run as a table of at most `columns` (60 and more) x `lines` (6 and more). With fewer lines
/// than peers, it lists the lost and the slowest peers. No newline at the end.
std::string top_screen(const RunView& view, std::size_t columns, std::size_t lines);

/// Returns what a large part of the fleet waits for, the worst first; three at most.
std::vector<Culprit> worst_culprits(const RunView& view);

/// The values as characters of eight heights.
std::string sparkline(const std::vector<double>& values);

}  // namespace gv
