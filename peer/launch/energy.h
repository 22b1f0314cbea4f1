#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace gv
