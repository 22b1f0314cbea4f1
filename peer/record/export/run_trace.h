#pragma once

#include <cstddef>
#include <string>

#include "peer/record/export/moments.h"

namespace gv {

/// The numbers of peers and moments that went into a trace.
struct WrittenTrace {
  std::size_t peers = 0;
  std::size_t moments = 0;
};

/// Writes what the peers of a run recorded of these rounds as a timeline for Perfetto (trace_json).
/// Throws std::invalid_argument where nothing was recorded, or too much for one file, and
/// std::runtime_error where the file cannot be written.
WrittenTrace write_run_trace(const std::string& folder,
                             const std::string& output,
                             const RoundRange& range);

}  // namespace gv
