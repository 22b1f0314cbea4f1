#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "graph/topology/topology.h"
#include "optim/data/dataset.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// Figures of a regression, whose loss is half the mean squared error.
struct RegressionScore {
  double rmse = 0;  ///< root mean squared error, in the target's unit
  /// 1 - loss / loss_of_mean, as scikit-learn's r2_score; nothing if all targets are equal.
  std::optional<double> r2{};
};

/// Returns whether the samples have numeric targets.
bool is_regression(const Dataset* test);

/// Returns the loss of predicting the targets' mean: half their variance.
double loss_of_mean(const Dataset& data);

/// Returns nothing if the samples are not of a regression or the loss is not finite.
std::optional<RegressionScore> regression_score(const Dataset* test, double loss);

/// Returns "R2         0.4876; root of the mean squared error 54.1".
std::string score_text(const RegressionScore& score);
/// Adds a score as `r2` and `rmse`, if there is one.
void add_score(Json& to, const std::optional<RegressionScore>& score);

/// Tables that `run` and `simulate` print, without a trailing newline. `test`: samples of the
/// evaluations; a regression's show R2 instead of the accuracy. `validated`: `test` is a validation
/// set. `agents`: no samples; returns are shown instead of losses and accuracies.
std::string table_header(const Dataset* test, bool validated = false, bool agents = false);
std::string table_row(const FleetRecord& record, const Dataset* test);
std::string summary_text(const FleetRecord& record,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes,
                         const Dataset* test);

/// Returns "1.63 MB", "812 B": decimal units, three digits.
std::string bytes_text(double bytes);
/// Returns "12.3 s", "4 min 12 s", "250 ms".
std::string seconds_text(double seconds);

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};
/// Returns the size of a descriptor's terminal, or 80 x 24 if it is unknown.
TerminalSize terminal_size(int fd);

/// A progress line on stderr, for a terminal or a CI log: redrawn in place at most ten times a
/// second on a terminal, a plain line every ten seconds elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  /// Shows the text if it is due, cut to the terminal's width, since a wrapped line cannot be
  /// redrawn in place.
  void update(const std::string& text);
  void clear();  ///< call before other text is printed

 private:
  bool terminal_;
  bool shown_ = false;
  std::int64_t due_ms_;
};

/// Returns "12 edges, all in shared memory", "12 edges, all over TCP", or lists which edges are
/// which, as far as they fit on a line. Pairs are (lower id, higher id).
std::string edges_text(const std::set<Edge>& all, const std::set<Edge>& shared);

}  // namespace gv
