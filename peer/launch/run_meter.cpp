#include "peer/launch/run_meter.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/run_record.h"

namespace gv {
namespace {

constexpr std::size_t longest_name = 40;

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

constexpr const char* unmeasured = "not measured";

/// Returns the number after "name=".
std::optional<double> value_of(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const char* const begin = line.data() + at + name.size();
  double value = 0;
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error != std::errc{} || end == begin || !(value >= 0) || value > 1e18) return std::nullopt;
  return value;
}

bool uses_devices(const Fleet& fleet) {
  return std::ranges::any_of(fleet.peers, [](const PeerSpec& p) { return p.device != "cpu"; });
}

}  // namespace

/// A counter that starts again from zero after `range`.
struct EnergyMeter::Counter {
  std::string name;
  std::function<std::optional<std::uint64_t>()> read;
  std::uint64_t range = 0;  ///< 0: it never wraps
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

/// Finds whole packages, which include their parts (cores, caches). Usually only root may read.
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

/// Finds the devices of NVIDIA's management library, if it is installed:
/// nvmlDeviceGetTotalEnergyConsumption counts millijoules since the driver was loaded.
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

std::optional<CpuPressure> parse_cpu_pressure(const std::string& text) {
  if (!text.starts_with("some ")) return std::nullopt;
  const std::string line = text.substr(0, text.find('\n'));
  const auto percent = value_of(line, "avg10=");
  const auto microseconds = value_of(line, "total=");
  if (!percent || !microseconds || *percent > 100) return std::nullopt;
  return CpuPressure{.lately = *percent / 100, .waited_seconds = *microseconds * 1e-6};
}

std::optional<CpuPressure> cpu_pressure() {
  std::ifstream in("/proc/pressure/cpu");
  return parse_cpu_pressure({std::istreambuf_iterator<char>(in), {}});
}

RunMeter::RunMeter(const Fleet& fleet) : energy_(uses_devices(fleet)), began_(cpu_pressure()) {}

void RunMeter::sample() {
  const auto now = std::chrono::steady_clock::now();
  if (now - sampled_ < between_samples) return;
  sampled_ = now;
  energy_.sample();
}

Json RunMeter::end() {
  energy_.sample();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  Json json{{"at", now_text()}};
  const std::optional<CpuPressure> ended = cpu_pressure();
  if (began_ && ended) {
    const double waited = (ended->waited_seconds - began_->waited_seconds) / seconds.count();
    json["cpu_pressure"] = {{"begin", began_->lately},
                            {"end", ended->lately},
                            {"during", std::clamp(waited, 0.0, 1.0)}};
  } else {
    json["cpu_pressure"] = unmeasured;
  }
  if (const std::optional<double> joules = energy_.joules())
    json["energy"] = {{"joules", *joules}, {"of", energy_.sources()}};
  else
    json["energy"] = unmeasured;
  return json;
}

void add_end(const RunFolder& folder, const Json& ended) {
  constexpr std::string_view last = "\n}\n";
  constexpr std::string_view before = ",\n  \"ended\": ";  // from the resumed run
  const std::string path = folder.file("run.json");
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.ends_with(last)) throw std::runtime_error(path + ": is not as it was written");
  text.resize(std::min(text.rfind(before), text.size() - last.size()));
  folder.write("run.json.tmp", text.append(before) + ended.dump() + std::string(last));
  std::filesystem::rename(path + ".tmp", path);
}

}  // namespace gv
