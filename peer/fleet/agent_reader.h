#pragma once

#include <string_view>

#include "gossip/algorithm.h"

namespace gv {

/// The use of a method to agents (optim/rl), which bring no samples but fill a memory of their own.
struct AgentUse {
  std::string_view name{};       ///< under which it was published for agents, such as "GALA"; or ""
  std::string_view source{};     ///< of that name
  std::string_view objection{};  ///< why it trains no agents; "": it does
};

/// Returns that of each row, those of plug-ins too. The fleet reader refuses what it objects to,
/// and `grapevine algorithms` and docs/methods.md say the same.
AgentUse agent_use(const AlgorithmRow& row);

}  // namespace gv
