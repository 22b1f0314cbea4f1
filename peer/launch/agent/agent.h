#pragma once

#include <string>

#include "gossip/world.h"

namespace gv {

struct AgentOptions {
  std::string program;  ///< the peers' binary
  std::string nonce;    ///< of the launcher; letters and digits
  std::string run;      ///< the name of the run's folder, below the cache of this user
  Time leash{std::chrono::seconds(15)};  ///< without a word of the launcher, the peers are ended
  Time grace{std::chrono::seconds(8)};   ///< for them to end by themselves
};

/// Does on another machine what a launcher does on its own: starts peers as it is told to over
/// stdin, hands their lines and vectors on over stdout (agent_frame.h), and ends them when it is
/// told to, when stdin ends, or when the leash is out. No peer outlives it. Returns the exit code.
int run_agent(const AgentOptions& options);

}  // namespace gv
