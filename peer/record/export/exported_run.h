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
  double began = 0;                ///< seconds since 1970, as far as the folder tells
  std::vector<MetricsRow> rows{};  ///< ascending in their rounds
  /// The values of a sweep's trial on each axis, and what it was for ("tune", "run"); else empty.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string stage{};
  std::map<std::string, std::string> keys{};  ///< of its fleet file
};

/// The folders that are meant by `folder`: a sweep's trials, by name, or it alone.
std::vector<std::string> runs_of(const std::string& folder);

/// Throws std::runtime_error with the path where metrics.jsonl is missing or damaged.
ExportedRun read_run(const std::string& folder);

/// One table of all runs (RFC 4180, lines end with CR LF): a line per evaluation, its run in the
/// first column. Where there are several runs, the columns behind it are what tells them apart: a
/// sweep's axes and the stage of each trial, and the keys of the fleet files in which they differ.
/// The columns of states are there where a run has recorded them; a cell that a run
/// does not know is empty.
std::string csv_of(const std::vector<ExportedRun>& runs);

/// A word of such a table, in quotes where it needs them.
std::string csv_word(const std::string& text);

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), as a TFRecord masks it: rotated right by 15 bits,
/// plus 0xa282ead8.
std::uint32_t crc32c(std::string_view bytes);
std::uint32_t masked_crc32c(std::string_view bytes);

/// A TensorBoard event file of the run: its figures as scalars (loss/mean_model, accuracy/worst,
/// consensus, ...) over rounds. Records of length, checksums and a tensorflow.Event each; its
/// fields are wall_time 1, step 2, file_version 3 and summary 5, of whose values tag is 1 and
/// simple_value 2 (tensorflow/core/util/event.proto and framework/summary.proto).
std::string event_file(const ExportedRun& run);

/// Writes DIR/NAME/events.out.tfevents.BEGAN.grapevine; returns its path. Throws
/// std::runtime_error with the path.
std::string write_event_file(const std::string& folder, const ExportedRun& run);

}  // namespace gv
