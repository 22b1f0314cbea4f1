#pragma once

#include <string>

#include "peer/sim/swarm.h"

namespace gv {

/// Returns the violations of the first failing seed, one per line, or an empty text.
inline std::string told(const SwarmResult& result) {
  if (!result.first_failing_seed) return "";
  std::string text = "seed " + std::to_string(*result.first_failing_seed) + ":\n";
  for (const std::string& violation : result.texts) text += violation + "\n";
  return text;
}

}  // namespace gv
