#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "optim/data/dataset.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// The loss of a regression, half the mean squared error, beside its targets.
struct RegressionScore {
  double rmse = 0;  ///< root of the mean squared error, in the target's unit
  /// 1 - loss / loss_of_mean, as scikit-learn's r2_score; nothing where all targets are alike.
  std::optional<double> r2{};
};

/// Returns whether the samples have targets that are numbers.
bool is_regression(const Dataset* test);

/// The loss of whoever tells the mean of these targets: half their variance.
double loss_of_mean(const Dataset& data);

/// Returns nothing where the samples are no regression's, or the loss is not finite.
std::optional<RegressionScore> regression_score(const Dataset* test, double loss);

/// "R2         0.4876; root of the mean squared error 54.1"
std::string score_text(const RegressionScore& score);
/// Adds it as `r2` and `rmse`, where there is one.
void add_score(Json& to, const std::optional<RegressionScore>& score);

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
