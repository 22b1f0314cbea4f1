#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "graph/schedules.h"
#include "graph/spectrum/modes.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {

/// Two triangles joined by an edge: G6 of the project's theory sheet, section 5.2.
inline Topology g6() {
  return make_topology("G6", 6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}});
}

/// The 8-node, 13-edge example of Boyd's ICM 2006 lecture.
inline Topology g8() {
  // clang-format off
  return make_topology("G8", 8, {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {1, 7}, {1, 3}, {4, 5},
                                 {4, 6}, {2, 6}, {3, 7}, {5, 6}, {6, 7}, {1, 6}});
  // clang-format on
}

/// A torus without a shape is square.
inline Topology family(const std::string& text, PeerId n) {
  return build(parse_topology(text), n);
}

/// Returns all modes of a family, by its closed form if it has one.
inline Modes family_modes(const std::string& text, PeerId n, const char* weights = "metropolis") {
  const Topology t = family(text, n);
  const TopologySpec spec = parse_topology(t.name);  // with its shape
  return modes_of(mixing_matrix(weights, t), &spec, weights);
}

/// Returns all modes of a schedule that has modes.
inline Modes modes_of_schedule(const std::string& text, PeerId n) {
  return schedule_modes(parse_schedule(text), n).value();
}

/// Calls f(spec, n, weights) for families and sizes whose eigenvalues may have a formula.
template <class F>
void for_each_closed_form(F f) {
  for (const char* weights : {"metropolis", "max-degree", "lazy"}) {
    for (const char* text : {"ring", "path", "star", "complete", "hypercube", "exponential",
                             "symmetric-exponential"}) {
      for (const PeerId n : {2U, 3U, 4U, 5U, 8U, 9U, 16U, 25U, 64U, 256U}) {
        const TopologySpec spec = parse_topology(text);
        if (spec.family->name == "hypercube" && (n & (n - 1)) != 0) continue;
        f(spec, n, weights);
      }
    }
    for (const char* text : {"torus:3x3", "torus:4x4", "torus:3x8", "torus:5x7", "torus:16x16"}) {
      const TopologySpec spec = parse_topology(text);
      const LatticeShape shape = spec.parameters.shape();
      f(spec, shape.rows * shape.columns, weights);
    }
  }
}

}  // namespace gv
