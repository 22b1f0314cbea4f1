#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "peer/fleet/json/json.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Time that processes on this machine waited for a processor, as the kernel counts it (pressure
/// stall information, /proc/pressure/cpu).
struct CpuPressure {
  double lately = 0;          ///< share of the last ten seconds
  double waited_seconds = 0;  ///< since the machine was started
};
/// Returns nothing if the kernel does not count it or the text is not as expected.
std::optional<CpuPressure> parse_cpu_pressure(const std::string& text);
std::optional<CpuPressure> cpu_pressure();

/// Measures the CPU pressure at both ends of a run and in between.
class RunMeter {
 public:
  RunMeter() : began_(cpu_pressure()) {}

  /// {"at": "..Z", "cpu_pressure": {"begin":..,"end":..,"during":..}}; shares of the time. "not
  /// measured" replaces a figure that could not be measured.
  Json end() const;

 private:
  std::optional<CpuPressure> began_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Adds `ended` to the run.json of the folder, under "ended". Throws std::runtime_error with the
/// path if the file is not as begin_run wrote it.
void add_end(const RunFolder& folder, const Json& ended);

}  // namespace gv
