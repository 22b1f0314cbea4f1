#pragma once

#include <cstdint>
#include <string>

namespace gv {

/// The facts that a run's times depend on, as run.json keeps them.
struct MachineFacts {
  std::string processor;  ///< "Intel(R) Xeon(R) ..."; "unknown" where /proc does not say
  unsigned cores = 0;     ///< that this process may use
  std::uint64_t memory_bytes = 0;
};
MachineFacts machine_facts();

}  // namespace gv
