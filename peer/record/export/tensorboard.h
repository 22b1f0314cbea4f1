#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "peer/record/export/exported_run.h"

namespace gv {

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
