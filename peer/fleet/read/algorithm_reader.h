#pragma once

#include <string>
#include <string_view>

#include "optim/error_text.h"

namespace gv {

struct AlgorithmRow;

/// Hash of the program's sources, as in `--version`; 12 hex digits (cmake/SourcesHash.cmake).
extern const char sources_hash[];
extern const char program_version[];  ///< such as "0.3.0"

/// Returns the hash of the sources with which the plug-in in these bytes was compiled, or "" if
/// they are no plug-in.
std::string sources_of_plugin(const std::string& bytes);

/// Loads the methods of a shared object into this program, once. Refuses an object compiled with
/// other sources before any of its code runs, and names both hashes. Returns "" or the error.
Verdict load_plugin(const std::string& path);

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
