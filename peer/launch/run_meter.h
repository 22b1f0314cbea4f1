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

/// Adds up the joules of the machine's processors (Intel's and AMD's RAPL, as
/// /sys/class/powercap shows them) and NVIDIA devices since it was made. All that runs on the
/// machine counts, whoever runs it. A counter begins again when it is full, within minutes under
/// load: ask in between.
class EnergyMeter {
 public:
  /// `devices`: NVIDIA's count too. `powercap`: the folder of the counters.
  explicit EnergyMeter(bool devices, std::string powercap = "/sys/class/powercap");
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  void sample();
  /// Returns the sum as of the last sample; nothing where no counter may be read.
  std::optional<double> joules() const;
  /// "package-0, NVIDIA 0"; "" where nothing may be read.
  std::string sources() const;

 private:
  struct Counter;
  void find_packages(const std::string& powercap);
  void find_devices();

  std::vector<Counter> counters_;
  void* library_ = nullptr;  ///< NVIDIA's
};

/// The time that somebody on this machine waited for a processor, as the kernel counts it (pressure
/// stall information, /proc/pressure/cpu).
struct CpuPressure {
  double lately = 0;          ///< share of the last ten seconds
  double waited_seconds = 0;  ///< since the machine was started
};
/// Returns nothing where the kernel does not count it, or the text is another one.
std::optional<CpuPressure> parse_cpu_pressure(const std::string& text);
std::optional<CpuPressure> cpu_pressure();

/// The meter of what a run's times were measured beside: the pressure on the processors at both
/// ends, and the energy that the machine used meanwhile.
class RunMeter {
 public:
  explicit RunMeter(const Fleet& fleet);

  /// Now and then: see EnergyMeter.
  void sample();
  /// {"at": "..Z", "cpu_pressure": {"begin":..,"end":..,"during":..},
  ///  "energy": {"joules":..,"of":".."}}; shares of the time. What could not be measured says so:
  /// "not measured".
  Json end();

 private:
  static constexpr std::chrono::seconds between_samples{60};

  EnergyMeter energy_;
  std::optional<CpuPressure> began_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point sampled_ = begin_;
};

/// Adds `ended` to the run.json of the folder, under "ended". Throws std::runtime_error with the
/// path where that is not as begin_run wrote it.
void add_end(const RunFolder& folder, const Json& ended);

}  // namespace gv
