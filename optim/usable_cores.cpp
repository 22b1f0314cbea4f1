#include "optim/usable_cores.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include <sched.h>
#include <unistd.h>

namespace gv {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "/user.slice/session-1.scope" of "0::/user.slice/session-1.scope" (cgroups(7)); "" if there is
/// no such line.
std::string own_group() {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("0::/")) return line.substr(3);
  return "";
}

}  // namespace

std::vector<std::string> control_groups() {
  std::vector<std::string> folders;
  for (std::string group = own_group(); !group.empty();
       group.resize(group == "/" ? 0 : std::max<std::size_t>(1, group.rfind('/')))) {
    std::string folder = "/sys/fs/cgroup" + group + "/";
    folders.push_back(std::move(folder));
  }
  return folders;
}

std::optional<double> quota_in(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  double time = 0, period = 0;
  if (!(in >> time >> period) || time <= 0 || period <= 0) return {};
  return time / period;
}

unsigned UsableCores::count() const {
  const double most = quota ? std::ceil(*quota) : allowed;
  return std::max(1U, std::min(allowed, static_cast<unsigned>(std::min(most, 1e6))));
}

UsableCores usable_cores() {
  UsableCores cores{.online = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)))};
  cores.allowed = cores.online;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0)
    cores.allowed = static_cast<unsigned>(std::max(1, CPU_COUNT(&mask)));
  for (const std::string& folder : control_groups())
    if (const auto quota = quota_in(text_of(folder + "cpu.max")))
      cores.quota = std::min(*quota, cores.quota.value_or(*quota));
  return cores;
}

}  // namespace gv
