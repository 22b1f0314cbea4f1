#pragma once

#include <cstdint>
#include <string>

#include "optim/printable.h"
#include "peer/record/fleet_record.h"
#include "peer/record/report/regression.h"

namespace gv {

/// The tables that `run` and `simulate` print for people. No trailing newline. `test`: the samples
/// of the evaluations; where they are a regression's, R2 stands instead of the accuracy.
/// `validated`: they are a validation set. `agents`: there are no samples, and returns stand in the
/// place of losses and accuracies.
std::string table_header(const Dataset* test, bool validated = false, bool agents = false);
std::string table_row(const FleetRecord& record, const Dataset* test);
std::string summary_text(const FleetRecord& record,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes,
                         const Dataset* test);

/// "1.63 MB", "812 B": decimal units, three digits.
std::string bytes_text(double bytes);
/// "12.3 s", "4 min 12 s", "250 ms".
std::string seconds_text(double seconds);

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};
/// Asks the terminal behind a descriptor; 80 x 24 where none tells.
TerminalSize terminal_size(int fd);

/// One line a reader of the terminal or of CI's log can follow: redrawn in place at most ten times
/// a second on a terminal, a plain line every ten seconds elsewhere. On stderr.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  /// Shown when it is due; what does not fit into the terminal's line is cut off, since a line that
  /// wraps could not be redrawn in place.
  void update(const std::string& text);
  void clear();  ///< before other text is printed

 private:
  bool terminal_;
  bool shown_ = false;
  std::int64_t due_ms_;
};

}  // namespace gv
