#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/launch/agent/facts/interfaces.h"

namespace gv {

/// Facts that an agent reports of its machine and of itself.
struct HostFacts {
  int wire = 0;           ///< version of the frames between peers
  std::string version{};  ///< version of the program; "" if it does not report one
  std::string processor;
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
  double clock = 0;  ///< seconds since 1970, UTC
  std::vector<InterfaceAddress> addresses;
  bool root = false;  ///< the agent runs as root, and its peers too
};

HostFacts own_facts();
double own_clock();  ///< seconds since 1970, UTC

/// Returns the minimum by which a clock is ahead of ours, in seconds, if it showed `theirs` at some
/// moment between `earliest` and `latest` of ours. A busy machine must not seem to be ahead.
double clock_ahead(double theirs, double earliest, double latest);
/// Returns a note if peers that other machines reach run as root on these hosts, or "". No error,
/// because nothing breaks by it, and containers and tests run as root.
std::string root_note(const std::vector<std::string>& hosts);

/// Returns a note on a host whose clock is ahead of ours by `ahead`, or "" if it is right enough.
/// No error, because only readers of the logs depend on clocks.
std::string clock_note(const std::string& host, double ahead);

std::string facts_text(const HostFacts& facts);
/// Throws std::exception if the text does not hold facts.
HostFacts parse_facts(const std::string& text);

}  // namespace gv
