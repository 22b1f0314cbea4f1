#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peer/show/live/observed_run.h"

namespace gv {

/// A run as a table of at most `columns` (60 and more) x `lines` (6 and more); with fewer lines
/// than peers, those that are lost or furthest behind. No newline at the end.
std::string top_screen(const RunView& view, std::size_t columns, std::size_t lines);

/// Says whom a large part of the fleet's time is waited for, the worst first; three at most.
std::vector<std::string> hold_up_texts(const RunView& view);

/// The loss as eight heights, the lowest value lowest.
std::string sparkline(const std::vector<double>& values);

}  // namespace gv
