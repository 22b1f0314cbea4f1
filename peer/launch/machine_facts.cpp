#include "peer/launch/machine_facts.h"

#include <fstream>

#include <sched.h>
#include <unistd.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t longest_name = 100;

/// x86 calls it so; ARM's file has no name of the processor.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return printable(line.substr(colon + 2), longest_name);
  }
  return "unknown";
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

MachineFacts machine_facts() {
  return {.processor = processor_name(),
          .cores = usable_cores(),
          .memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE))};
}

}  // namespace gv
