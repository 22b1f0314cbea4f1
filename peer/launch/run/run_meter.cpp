#include "peer/launch/run/run_meter.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "optim/machine/cache_home.h"
#include "peer/launch/run/run_record.h"

namespace gv {
namespace {

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

}  // namespace

std::optional<CpuPressure> parse_cpu_pressure(const std::string& text) {
  if (!text.starts_with("some ")) return std::nullopt;
  const std::string line = text.substr(0, text.find('\n'));
  const auto percent = value_of(line, "avg10=");
  const auto microseconds = value_of(line, "total=");
  if (!percent || !microseconds || *percent > 100) return std::nullopt;
  return CpuPressure{.lately = *percent / 100, .waited_seconds = *microseconds * 1e-6};
}

std::optional<CpuPressure> cpu_pressure() {
  return parse_cpu_pressure(text_of_file("/proc/pressure/cpu"));
}

Json RunMeter::end() const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  Json json{{"at", now_text()}};
  const std::optional<CpuPressure> ended = cpu_pressure();
  if (began_ && ended) {
    const double waited = (ended->waited_seconds - began_->waited_seconds) / seconds.count();
    json["cpu_pressure"] = {{"begin", began_->lately},
                            {"end", ended->lately},
                            {"during", std::clamp(waited, 0.0, 1.0)}};
  } else {
    json["cpu_pressure"] = "not measured";
  }
  return json;
}

void add_end(const RunFolder& folder, const Json& ended) {
  constexpr std::string_view last = "\n}\n";
  constexpr std::string_view before = ",\n  \"ended\": ";  // from the resumed run
  const std::string path = folder.file("run.json");
  std::string text = text_of_file(path);
  if (!text.ends_with(last))
    throw std::runtime_error(path + ": is damaged: it does not hold what was written");
  text.resize(std::min(text.rfind(before), text.size() - last.size()));
  folder.write("run.json.tmp", text.append(before) + ended.dump() + std::string(last));
  std::filesystem::rename(path + ".tmp", path);
}

}  // namespace gv
