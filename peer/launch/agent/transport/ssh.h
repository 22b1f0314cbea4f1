#pragma once

#include <span>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/agent/transport/bundle.h"

namespace gv {

/// Options of an agent to be started on a host: see AgentOptions.
struct AgentWords {
  std::string nonce;
  std::string run;
  double leash_seconds = 15;
  double grace_seconds = 8;
};

/// Returns "grapevine agent --nonce ...", for a program that is there.
std::vector<std::string> agent_argv(const std::string& program, const AgentWords& words);

/// Returns the user's own ssh with a command for the other machine's shell; see ssh_installed.
std::vector<std::string> ssh_argv(const std::string& target, const std::string& script);

/// Returns the user's own ssh without questions, so that its configuration, agents and jump hosts
/// work; GRAPEVINE_SSH names another program and its first options. `program`: path on the host.
std::vector<std::string> ssh_installed(const std::string& target,
                                       const std::string& program,
                                       const AgentWords& words);

/// Returns ssh with a script that runs a program of ours: picks the bundle for the machine, takes
/// it from that user's cache, and asks for it if it is not there ("grapevine-agent send NONCE
/// PROCESSOR"). The first bundle is our own.
std::vector<std::string> ssh_pushed(const std::string& target,
                                    std::span<const Bundle> bundles,
                                    const AgentWords& words);

/// Environment variable with the path of a lobby's socket. If it is set, agents on other machines
/// are started through that lobby instead of ssh.
inline constexpr const char* lobby_variable = "GRAPEVINE_LOBBY";
bool has_lobby();
/// Returns our own program's command that connects its streams with an agent on a machine that has
/// joined the lobby. `waits`: if the machine is away, the lobby waits for it for a while.
std::vector<std::string> lobby_argv(const std::string& program,
                                    const std::string& machine,
                                    const AgentWords& words,
                                    bool waits);

/// Returns a lobby's order for an agent, without the members that name the machine or the order.
Json agent_order(const AgentWords& words);
/// Throws std::exception if an option is not what a launcher of ours writes.
AgentWords parse_agent_order(const JsonValue& order);

/// Returns the host name that ssh makes of the target, or the target itself if ssh gives none.
std::string ssh_host_name(const std::string& target);

}  // namespace gv
