#pragma once

#include <span>
#include <string>
#include <vector>

#include "peer/launch/agent/bundle.h"

namespace gv {

/// The options of an agent that is to be started on a host: see AgentOptions.
struct AgentWords {
  std::string nonce;
  std::string run;
  double leash_seconds = 15;
  double grace_seconds = 8;
};

/// "grapevine agent --nonce ...", of a program that is there.
std::vector<std::string> agent_argv(const std::string& program, const AgentWords& words);

/// The user's own ssh with a command for the other machine's shell; see ssh_installed.
std::vector<std::string> ssh_argv(const std::string& target, const std::string& script);

/// The user's own ssh, so that its configuration, agents and jump hosts work, without questions;
/// GRAPEVINE_SSH names another program and its first options. `program`: as installed there.
std::vector<std::string> ssh_installed(const std::string& target,
                                       const std::string& program,
                                       const AgentWords& words);

/// Does the same with a program of ours: the remote shell looks which of these its machine can run,
/// takes it from the cache of that user, and asks for it where it is not there ("grapevine-agent
/// send NONCE PROCESSOR"). The first one is our own.
std::vector<std::string> ssh_pushed(const std::string& target,
                                    std::span<const Bundle> bundles,
                                    const AgentWords& words);

/// The host name that ssh makes of the target; the target itself where it does not say.
std::string ssh_host_name(const std::string& target);

}  // namespace gv
