#include "peer/study/sweep/free_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "optim/workers.h"

namespace gv {
namespace {

/// The whole number with which the text begins, behind blanks.
std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// The number behind a name with which a line begins.
std::optional<std::uint64_t> value_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return std::nullopt;
  return number_at(std::string_view(text).substr(text.find(name, at) + name.size()));
}

/// Reads a line of /proc/meminfo, which counts in KiB.
std::optional<std::uint64_t> bytes_of(const std::string& meminfo, const std::string& name) {
  const std::optional<std::uint64_t> kib = value_of(meminfo, name);
  if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::optional<std::uint64_t> available_in(const std::string& meminfo) {
  return bytes_of(meminfo, "MemAvailable:");
}

std::optional<std::uint64_t> free_swap() {
  return bytes_of(text_of("/proc/meminfo"), "SwapFree:");
}

std::optional<std::uint64_t> left_in_group(const std::string& max,
                                           const std::string& current,
                                           const std::string& stat) {
  const std::optional<std::uint64_t> most = number_at(max);  // else "max": no limit
  const std::optional<std::uint64_t> taken = number_at(current);
  if (!most || !taken) return std::nullopt;
  const std::uint64_t idle = std::min(*taken, value_of(stat, "inactive_file ").value_or(0));
  const std::uint64_t held = *taken - idle;
  return *most > held ? *most - held : 0;
}

std::optional<std::uint64_t> free_memory() {
  std::optional<std::uint64_t> least = available_in(text_of("/proc/meminfo"));
  for (const std::string& folder : control_groups()) {
    const auto left = left_in_group(text_of(folder + "memory.max"),
                                    text_of(folder + "memory.current"),
                                    text_of(folder + "memory.stat"));
    if (left) least = std::min(*left, least.value_or(*left));
  }
  return least;
}

}  // namespace gv
