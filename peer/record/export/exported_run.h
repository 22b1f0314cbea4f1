#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/record/report/metrics.h"

namespace gv {

/// The evaluations of a run folder, for other programs.
struct ExportedRun {
  std::string name;                ///< the folder's last part
  double began = 0;                ///< seconds since 1970; 0 if unknown
  std::vector<MetricsRow> rows{};  ///< ascending in their rounds
  /// A sweep's trial: its value on each axis, and its purpose ("tune", "run"); otherwise empty.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string stage{};
  std::map<std::string, std::string> keys{};  ///< keys of its fleet file, with their values
};

/// Returns the run folders that `folder` stands for: a sweep's trials, by name, or itself.
std::vector<std::string> runs_of(const std::string& folder);

/// Throws std::runtime_error with the path if metrics.jsonl is missing or damaged.
ExportedRun read_run(const std::string& folder);

/// Returns one table of all runs (RFC 4180, lines end with CR LF): a line per evaluation, its run
/// in the first column. Several runs have further columns that distinguish them: a sweep's axes and
/// the stage of each trial, and the keys of the fleet files that differ. Columns of states are
/// there if a run has recorded states. Unknown cells are empty.
std::string csv_of(const std::vector<ExportedRun>& runs);

/// Returns a cell of such a table, quoted if necessary.
std::string csv_word(const std::string& text);

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), as a TFRecord masks it: rotated right by 15 bits,
/// plus 0xa282ead8.
std::uint32_t crc32c(std::string_view bytes);
std::uint32_t masked_crc32c(std::string_view bytes);

/// Returns a TensorBoard event file of the run: its figures as scalars (loss/mean_model,
/// accuracy/worst, consensus, ...) over rounds. Each record has a length, checksums and a
/// tensorflow.Event with the fields wall_time 1, step 2, file_version 3 and summary 5; in a
/// summary's value, tag is 1 and simple_value 2 (tensorflow/core/util/event.proto and
/// framework/summary.proto).
std::string event_file(const ExportedRun& run);

/// Writes DIR/NAME/events.out.tfevents.BEGAN.grapevine; returns its path. Throws
/// std::runtime_error with the path.
std::string write_event_file(const std::string& folder, const ExportedRun& run);

}  // namespace gv
