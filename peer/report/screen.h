#pragma once

#include <cstdint>
#include <string>

#include "peer/runtime/observer.h"

namespace gv {

/// The tables that `run` and `simulate` print for people. No trailing newline.
std::string table_header();
std::string table_row(const FleetRecord& record);
std::string summary_text(const FleetRecord& record,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes);

/// "1.63 MB", "812 B": decimal units, three digits.
std::string bytes_text(double bytes);
/// "12.3 s", "4 min 12 s", "250 ms".
std::string seconds_text(double seconds);

/// One line a reader of the terminal or of CI's log can follow: redrawn in place at most ten times
/// a second on a terminal, a plain line every ten seconds elsewhere. On stderr.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  void update(const std::string& text);  ///< shown when it is due
  void clear();                          ///< before other text is printed

 private:
  bool terminal_;
  bool shown_ = false;
  std::int64_t due_ms_;
};

}  // namespace gv
