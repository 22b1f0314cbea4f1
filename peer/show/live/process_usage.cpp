#include "peer/show/live/process_usage.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {
namespace {

double since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Field k, counted from 0, of numbers between single spaces.
double field(std::string_view text, int k) {
  for (; k > 0; --k) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return 0;
    text.remove_prefix(space + 1);
  }
  return std::strtod(text.data(), nullptr);
}

}  // namespace

std::optional<ProcessUsage> usage_of(pid_t pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  std::array<char, 1024> buffer{};
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size() - 1);
  if (count <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  // The name is the second field and may hold anything; the last `)` ends it.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 2);  // now field 0 is `state`, the third of proc(5)
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ProcessUsage{.cpu_seconds = (field(text, 11) + field(text, 12)) / ticks,
                      .age_seconds = since_boot() - field(text, 19) / ticks,
                      .memory_bytes = static_cast<std::uint64_t>(field(text, 21)) *
                                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace gv
