#include "peer/launch/machine_facts.h"

#include <fstream>

#include <unistd.h>

#include "optim/printable.h"
#include "optim/workers.h"

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

}  // namespace

MachineFacts machine_facts() {
  return {.processor = processor_name(),
          .cores = usable_cores().count(),
          .memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE))};
}

}  // namespace gv
