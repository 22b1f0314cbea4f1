#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/agent/interfaces.h"

namespace gv {

/// What an agent says of its machine and of itself.
struct HostFacts {
  int wire = 0;  ///< version of the frames between peers
  std::string processor;
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
  double clock = 0;  ///< seconds since 1970, UTC
  std::vector<InterfaceAddress> addresses;
};

HostFacts own_facts();
double own_clock();  ///< seconds since 1970, UTC
std::string facts_text(const HostFacts& facts);
/// Throws std::exception: it is no such text.
HostFacts parse_facts(const std::string& text);

}  // namespace gv
