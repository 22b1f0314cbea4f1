#pragma once

#include <string_view>

#include "gossip/algorithm.h"

namespace gv {

/// Use of a method for agents (optim/rl), which have no samples but fill their own memory.
struct AgentUse {
  std::string_view name{};  ///< name under which it was published for agents, such as "GALA"; or ""
  std::string_view source{};     ///< paper that introduced the name
  std::string_view objection{};  ///< why it cannot train agents; "" if it can
};

/// Returns the use of any row, also of a plug-in's. The fleet reader refuses methods with an
/// objection; `grapevine algorithms` and docs/methods.md print it.
AgentUse agent_use(const AlgorithmRow& row);

}  // namespace gv
