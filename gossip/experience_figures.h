#pragma once

#include <cstdint>
#include <optional>

#include "graph/topology/topology.h"

namespace gv {

/// The work that a memory or an actor (experience.h) has done until a report.
struct ExperienceFigures {
  std::uint64_t frames = 0;  ///< of an actor: steps of its environments
  std::uint64_t taken = 0;   ///< of a memory: transitions since its warm-up
  std::uint64_t learnt = 0;  ///< and samples that it has handed out within its limit
  std::uint64_t kept = 0;    ///< transitions that are there
  PeerId actors = 0;         ///< of its actors, those that live

  /// Nothing before the end of the warm-up.
  std::optional<double> samples_per_insert() const {
    if (taken == 0) return {};
    return static_cast<double>(learnt) / static_cast<double>(taken);
  }
};

}  // namespace gv
