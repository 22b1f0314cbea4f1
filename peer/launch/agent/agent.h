#pragma once

#include <string>

#include "gossip/seam/world.h"

namespace gv {

/// Environment variable with which the peers of an agent refuse fleet files that would run code:
/// `program` and `plugin`.
inline constexpr const char* no_code_variable = "GRAPEVINE_NO_CODE";

struct AgentOptions {
  std::string program;                   ///< binary of the peers
  std::string nonce;                     ///< nonce of the launcher; letters and digits
  std::string run;                       ///< name of the run's folder in this user's cache
  Time leash{std::chrono::seconds(15)};  ///< silence of the launcher that ends the peers
  Time grace{std::chrono::seconds(8)};   ///< time for the peers to end by themselves
};

/// Does on another machine what a launcher does on its own. Orders come over stdin: starts peers,
/// sends their lines and vectors to stdout (agent_frame.h), and ends them when ordered, when stdin
/// ends, or when the leash is exceeded. No peer outlives it. Returns the exit code.
int run_agent(const AgentOptions& options);

}  // namespace gv
