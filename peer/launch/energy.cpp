#include "peer/launch/energy.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t longest_name = 40;

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

}  // namespace

/// Counts up, from zero again behind `range`.
struct EnergyMeter::Counter {
  std::string name;
  std::function<std::optional<std::uint64_t>()> read;
  std::uint64_t range = 0;  ///< 0: it never begins again
  double unit = 1e-6;       ///< joules
  std::uint64_t last = 0;
  double joules = 0;

  void sample() {
    const std::optional<std::uint64_t> now = read();
    if (!now) return;
    if (*now >= last) {
      joules += unit * static_cast<double>(*now - last);
    } else if (range > 0) {
      joules += unit * static_cast<double>(*now + (range - std::min(range, last)));
    }
    last = *now;
  }
};

EnergyMeter::EnergyMeter(bool devices, std::string powercap) {
  find_packages(powercap);
  if (devices) find_devices();
  for (Counter& counter : counters_) counter.last = counter.read().value_or(0);
}

EnergyMeter::~EnergyMeter() {
  if (library_ != nullptr) ::dlclose(library_);
}

/// Finds whole packages only: what is inside one (cores, caches) counts there already. As a rule
/// only root may read them.
void EnergyMeter::find_packages(const std::string& powercap) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(powercap, error)) {
    const std::string folder = entry.path().string();
    std::string name;
    std::ifstream(folder + "/name") >> name;
    if (!name.starts_with("package-")) continue;
    const std::string file = folder + "/energy_uj";
    if (!number_in(file)) continue;
    const auto same = [&](const Counter& counter) { return counter.name == name; };
    if (std::ranges::any_of(counters_, same)) continue;  // intel-rapl and intel-rapl-mmio
    counters_.push_back({.name = printable(name, longest_name),
                         .read = [file] { return number_in(file); },
                         .range = number_in(folder + "/max_energy_range_uj").value_or(0)});
  }
  std::ranges::sort(counters_, {}, &Counter::name);
}

/// NVIDIA's management library, where it is installed: nvmlDeviceGetTotalEnergyConsumption counts
/// millijoules since the driver was loaded.
void EnergyMeter::find_devices() {
  using Device = void*;
  library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return;
  const auto find = [this](const char* name) { return ::dlsym(library_, name); };
  const auto init = reinterpret_cast<int (*)()>(find("nvmlInit_v2"));
  const auto count = reinterpret_cast<int (*)(unsigned*)>(find("nvmlDeviceGetCount_v2"));
  const auto handle =
      reinterpret_cast<int (*)(unsigned, Device*)>(find("nvmlDeviceGetHandleByIndex_v2"));
  const auto energy = reinterpret_cast<int (*)(Device, unsigned long long*)>(
      find("nvmlDeviceGetTotalEnergyConsumption"));
  unsigned devices = 0;
  if (init == nullptr || count == nullptr || handle == nullptr || energy == nullptr ||
      init() != 0 || count(&devices) != 0)
    return;
  for (unsigned k = 0; k < devices; ++k) {
    Device device = nullptr;
    if (handle(k, &device) != 0) continue;
    const auto read = [energy, device]() -> std::optional<std::uint64_t> {
      unsigned long long millijoules = 0;
      if (energy(device, &millijoules) != 0) return std::nullopt;
      return millijoules;
    };
    if (!read()) continue;
    counters_.push_back({.name = fmt::format("NVIDIA {}", k), .read = read, .unit = 1e-3});
  }
}

void EnergyMeter::sample() {
  for (Counter& counter : counters_) counter.sample();
}

std::optional<double> EnergyMeter::joules() const {
  if (counters_.empty()) return std::nullopt;
  double sum = 0;
  for (const Counter& counter : counters_) sum += counter.joules;
  return sum;
}

std::string EnergyMeter::sources() const {
  std::string text;
  for (const Counter& counter : counters_)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", counter.name);
  return text;
}

}  // namespace gv
