#include <chrono>

#include <unistd.h>

#include "peer/launch/agent/facts.h"
#include "peer/launch/machine_facts.h"
#include "peer/wire/frame/frame.h"

// What asks this machine stands apart from what reads the answers of others.

namespace gv {

double own_clock() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

HostFacts own_facts() {
  const MachineFacts machine = machine_facts();
  return {.wire = wire::version,
          .version = GV_VERSION,
          .processor = machine.processor,
          .cores = machine.cores,
          .memory_bytes = machine.memory_bytes,
          .clock = own_clock(),
          .addresses = interface_addresses(),
          .root = ::geteuid() == 0};
}

}  // namespace gv
