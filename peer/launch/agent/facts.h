#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/launch/agent/interfaces.h"

namespace gv {

/// The facts that an agent tells of its machine and of itself.
struct HostFacts {
  int wire = 0;           ///< version of the frames between peers
  std::string version{};  ///< of the program; "": one that does not tell
  std::string processor;
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
  double clock = 0;  ///< seconds since 1970, UTC
  std::vector<InterfaceAddress> addresses;
  bool root = false;  ///< it runs as root there, and its peers with it
};

HostFacts own_facts();
double own_clock();  ///< seconds since 1970, UTC

/// Returns by how many seconds a clock is ahead of ours that showed `theirs` at some moment between
/// `earliest` and `latest` of ours: the least that it can be, so that a busy machine is not taken
/// for one whose clock is wrong.
double clock_ahead(double theirs, double earliest, double latest);
/// Returns a note where peers that other machines reach run as root on these hosts; "": none do.
/// Containers and tests do, and nothing breaks by it, so that this is no error either.
std::string root_note(const std::vector<std::string>& hosts);

/// Returns a note on a host whose clock is so far ahead of ours; "": it is right enough. Nothing
/// depends on clocks but the reader of the logs, so that this is no error.
std::string clock_note(const std::string& host, double ahead);

std::string facts_text(const HostFacts& facts);
/// Throws std::exception: it is no such text.
HostFacts parse_facts(const std::string& text);

}  // namespace gv
