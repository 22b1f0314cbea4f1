#pragma once

#include <map>
#include <string>
#include <vector>

namespace gv {

/// `program`: what trains in each peer, instead of a model, data and an optimizer of ours.
struct ProgramSpec {
  std::vector<std::string> command{};        ///< as execvp takes it; never empty
  std::map<std::string, std::string> env{};  ///< of its environment, beside what a peer finds
};

}  // namespace gv
