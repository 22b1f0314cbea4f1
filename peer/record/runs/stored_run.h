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

/// All that a run folder says of a run that has ended.
struct StoredRun {
  std::string path;   ///< of the folder
  std::string shown;  ///< the same, printable
  bool simulated = false;
  std::string name, version, began, processor;
  std::string algorithm, order, topology, model, data;
  std::uint64_t seed = 0, peers = 0, parameters = 0;
  std::string bits;  ///< what fixes the models, see bits_of
  std::map<std::string, std::string> keys;
  std::vector<std::string> hosts;             ///< by peer; empty: all on one machine
  std::map<std::string, std::string> labels;  ///< of a sweep's trial: its value on each axis
  bool tuning = false;                        ///< a sweep's trial that only found a rate
  std::string sweep_target;                   ///< of a sweep's trial, as `--target` takes it; or ""
  std::vector<MetricsRow> evaluations;        ///< by round, at least one; each with its bytes
  std::uint64_t rounds = 0;                   ///< at the end
  double seconds = 0;                         ///< at the end
  std::uint64_t lost = 0;                     ///< peers
  bool resumed = false;                       ///< its processes and meters saw the last part alone
  std::optional<double> r2, rmse;             ///< of a regression, at the end
  bool validated = false;                     ///< the evaluations are of a validation set,
  std::optional<double> test_loss, test_accuracy;  ///< and these of the saved model on the test set
  std::optional<double> cpu_seconds;               ///< of all peers, where all wrote it down
  std::optional<double> peak_memory;               ///< bytes, of the largest peer
  std::optional<double> joules;                    ///< of its machine meanwhile
  std::optional<double> cpu_pressure;  ///< share of it in which somebody waited for a core
};

/// A folder that cannot be compared with others; what() is "PATH: reason".
class UnusableRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads and checks a run folder. Throws UnusableRun for one that is damaged, half written, of
/// another version, interrupted, or resumed by one whose clock began again half-way. Nothing in the
/// folder is believed: files have a largest size, numbers a range, and texts are printable
/// afterwards.
StoredRun read_stored_run(const std::string& folder);

/// Runs that were asked for, in an order that the arguments' order does not change.
struct RunList {
  std::vector<StoredRun> runs;
  std::vector<StoredRun> tuned;       ///< a sweep's trials that only found a rate
  std::vector<std::string> left_out;  ///< "PATH: reason", sorted
};

/// Reads the folders of runs; of sweeps, all under trials/; of anything else, the runs in it.
/// Those that cannot be used are left out, with the reason. Throws std::invalid_argument for what
/// is no folder.
RunList read_runs(const std::vector<std::string>& folders,
                  const std::function<void(std::size_t done, std::size_t all)>& on_progress);

/// The figures that were predicted of a run: summary.json, "predicted".
struct StoredPrediction {
  /// The losses at its end, where the theory knows them.
  struct Losses {
    double consensus = 0, mean = 0, local = 0;
  };
  std::optional<Losses> losses;
  std::optional<double> round_seconds;  ///< by the clock of its method, on its file's network
};

/// Returns nothing where nothing was predicted. Throws UnusableRun for a damaged summary.
std::optional<StoredPrediction> read_prediction(const std::string& run_folder);

/// A number as fleet files state it: "5 ms", "100 Mbit", "0.05", "16".
struct StatedNumber {
  double value = 0;       ///< in `unit`
  std::string_view unit;  ///< "s", "Mbit/s", or "" of a plain number
};

/// Returns nothing for what is no such number.
std::optional<StatedNumber> stated_number(std::string_view text);

/// A label that is a number, or a name with one at its end: "16", "easgd-16".
struct NumberedLabel {
  std::string name;  ///< "easgd"; empty of a number alone
  StatedNumber number;
};
std::optional<NumberedLabel> numbered_label(const std::string& label);

}  // namespace gv
