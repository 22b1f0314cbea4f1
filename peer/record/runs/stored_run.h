#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "peer/record/report/metrics.h"

namespace gv {

/// Contents of a finished run's folder.
struct StoredRun {
  std::string path;   ///< path of the folder
  std::string shown;  ///< path as printable text
  bool simulated = false;
  std::string name, version, began, processor;
  std::string algorithm, order, topology, model, data;
  std::uint64_t seed = 0, peers = 0, parameters = 0;
  std::map<std::string, std::string> keys;
  std::vector<std::string> hosts;  ///< host of each peer; empty if all are on one machine
  std::map<std::string, std::string> labels;  ///< sweep's trial: its value on each axis
  bool tuning = false;                        ///< sweep's trial that only tuned a rate
  std::string sweep;                          ///< name of the sweep of its trial, or ""
  std::string sweep_target;                   ///< sweep's trial: target as for `--target`, or ""
  std::vector<MetricsRow> evaluations;        ///< by round, at least one; each has sent_bytes
  std::uint64_t rounds = 0;                   ///< rounds of the whole run
  double seconds = 0;                         ///< duration of the whole run
  std::uint64_t lost = 0;                     ///< number of lost peers
  bool resumed = false;                       ///< process figures cover the last part only
  std::optional<double> r2, rmse;             ///< regression: figures at the end
  bool validated = false;                     ///< evaluations use a validation set
  std::optional<double> test_loss, test_accuracy;  ///< saved model, if `validated`
  std::optional<double> cpu_seconds;               ///< sum over all peers, if all recorded it
  std::optional<double> peak_memory;               ///< peak memory of the largest peer, bytes
  std::optional<double> cpu_pressure;  ///< share of time in which a task waited for a core
};

/// Thrown for a folder that cannot be compared with others; what() is "PATH: reason".
class UnusableRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads and checks a run folder. Throws UnusableRun if it is damaged, incomplete, of another
/// version, interrupted, or resumed with a clock that restarted half-way. Files are untrusted:
/// their sizes and numbers are bounded, and texts are made printable.
StoredRun read_stored_run(const std::string& folder);

/// Requested runs, in an order that does not depend on the arguments' order.
struct RunList {
  std::vector<StoredRun> runs;
  std::vector<StoredRun> tuned;       ///< sweep's trials that only tuned a rate
  std::vector<std::string> left_out;  ///< "PATH: reason", sorted
};

/// Reads run folders, all trials of sweeps, or all runs inside other folders. Lists unusable runs
/// with the reason in `left_out`. Throws std::invalid_argument if an argument is no folder.
RunList read_runs(const std::vector<std::string>& folders,
                  const std::function<void(std::size_t done, std::size_t all)>& on_progress);

/// Predicted figures of a run: summary.json, "predicted".
struct StoredPrediction {
  /// Final losses, if the theory predicts them.
  struct Losses {
    double consensus = 0, mean = 0, local = 0;
  };
  std::optional<Losses> losses;
  /// Seconds a round by the method's clock, on the file's network.
  std::optional<double> round_seconds;
};

/// Reads the prediction, or nothing if there is none. Throws UnusableRun for a damaged summary.
std::optional<StoredPrediction> read_prediction(const std::string& run_folder);

/// A number as written in fleet files: "5 ms", "100 Mbit", "0.05", "16".
struct StatedNumber {
  double value = 0;       ///< value in `unit`
  std::string_view unit;  ///< "s", "Mbit/s", or "" for a plain number
};

/// Returns nothing if the text is no such number.
std::optional<StatedNumber> stated_number(std::string_view text);

/// A label that is a number, or a name that ends with one: "16", "easgd-16".
struct NumberedLabel {
  std::string name;  ///< "easgd"; empty for a plain number
  StatedNumber number;
};
std::optional<NumberedLabel> numbered_label(const std::string& label);

/// The key by which labels are sorted: 5 ms is before 20 ms, and easgd-4 before easgd-16. A label
/// without a number has its text as its name.
struct LabelOrder {
  std::string name;
  std::string_view unit;
  double number = 0;
  std::string text;

  auto operator<=>(const LabelOrder& other) const = default;
};
LabelOrder label_order(const std::string& label);

}  // namespace gv
