#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/json/json.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Sums the energy of the machine's processors (RAPL of Intel and AMD, in /sys/class/powercap) and
/// NVIDIA devices since its construction. All programs on the machine count. Counters wrap, under
/// load within minutes: call sample() in between.
class EnergyMeter {
 public:
  /// `devices`: whether NVIDIA devices count. `powercap`: folder of the counters.
  explicit EnergyMeter(bool devices, std::string powercap = "/sys/class/powercap");
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  void sample();
  /// Returns the joules as of the last sample, or nothing if no counter can be read.
  std::optional<double> joules() const;
  /// Returns the counters' names as in "package-0, NVIDIA 0", or "" if none can be read.
  std::string sources() const;

 private:
  struct Counter;
  void find_packages(const std::string& powercap);
  void find_devices();

  std::vector<Counter> counters_;
  void* library_ = nullptr;  ///< NVIDIA's management library
};

/// Time that processes on this machine waited for a processor, as the kernel counts it (pressure
/// stall information, /proc/pressure/cpu).
struct CpuPressure {
  double lately = 0;          ///< share of the last ten seconds
  double waited_seconds = 0;  ///< since the machine was started
};
/// Returns nothing if the kernel does not count it or the text is not as expected.
std::optional<CpuPressure> parse_cpu_pressure(const std::string& text);
std::optional<CpuPressure> cpu_pressure();

/// Measures conditions of a run: CPU pressure at both ends, and the machine's energy in between.
class RunMeter {
 public:
  explicit RunMeter(const Fleet& fleet);

  /// Call it now and then: see EnergyMeter.
  void sample();
  /// {"at": "..Z", "cpu_pressure": {"begin":..,"end":..,"during":..},
  ///  "energy": {"joules":..,"of":".."}}; shares of the time. "not measured" replaces a figure that
  /// could not be measured.
  Json end();

 private:
  static constexpr std::chrono::seconds between_samples{60};

  EnergyMeter energy_;
  std::optional<CpuPressure> began_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point sampled_ = begin_;
};

/// Adds `ended` to the run.json of the folder, under "ended". Throws std::runtime_error with the
/// path if the file is not as begin_run wrote it.
void add_end(const RunFolder& folder, const Json& ended);

}  // namespace gv
