#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/schedule/schedule.h"

namespace gv {

// Predictions for schedules whose matrices share no modes (Base-(k+1), MATCHA, ...), from the
// sequence itself, followed by a SequenceWalk (D-PSGD, Lian et al. 2017, arXiv:1705.09056).

/// Returns the stationary state: the mean over the rounds of a period, or for a random schedule
/// over eight stretches of its own sequence, with their standard error. Nothing if it grows. The
/// mean model's loss is exact: its path does not depend on W. `most_work`: maximum number of
/// multiplications; nothing too if they do not suffice.
std::optional<Stationary> settled_sequence(const MixingSchedule& schedule,
                                           const QuadraticFleet& fleet,
                                           double most_work = 1e10);

/// Returns (1/n) ||W_{rounds - 1} ... W_0 (I - J)||_F^2: the rest of a white disagreement after
/// this number of rounds, as disagreement_after() does for modes.
double sequence_disagreement(const MixingSchedule& schedule, std::uint64_t rounds);

/// n rows of numbers, one row per peer.
using PeerRows = std::vector<std::vector<double>>;
/// Returns W times the rows.
PeerRows mixed(const MixingMatrix& w, const PeerRows& rows);

/// A quadratic fleet followed round by round along W_0, W_1, ...: the models' path without noise
/// and the exact covariance of their noise, for any sequence of matrices. Orders lian, atc and cta
/// with momentum and local steps (Lian et al. 2017, arXiv:1705.09056, Algorithm 1, X <- X W - gamma
/// G(X)). O(n^2 deg) operations per round and distinct curvature, and n deg per coordinate with
/// known centres.
class SequenceWalk {
 public:
  /// Centres drawn around 0 with variance fleet.spread, every coordinate starting at `start`: an
  /// expectation. Throws std::invalid_argument for an order that it does not know.
  SequenceWalk(const MixingSchedule& schedule, const QuadraticFleet& fleet, double start);
  /// Known centres: n rows with one number for each of fleet.hessian; fleet.spread is ignored.
  SequenceWalk(const MixingSchedule& schedule,
               const QuadraticFleet& fleet,
               const PeerRows& centers,
               double start);

  /// Does a round through W_t.
  void round(const MixingMatrix& w);
  Stationary now() const;

 private:
  /// All coordinates of one curvature: a path and a minimum for each; one covariance for all.
  struct Axis {
    double h = 1, copies = 0;    ///< copies: coordinates whose noise this is
    std::vector<double> weight;  ///< weight of each path in the sums
    PeerRows centers, x, u;      ///< n x paths; u: momentum's velocity
    PeerRows xx, xu, uu;         ///< n x n, of the noise
  };
  Axis& axis_of(double h);
  void begin(PeerId n);
  void turn(Axis& axis);
  void move(Axis& axis);
  void mix(Axis& axis, const MixingMatrix& w);
  void follow(Axis& axis, const MixingMatrix& w);

  QuadraticFleet fleet_;
  std::vector<Axis> axes_;
};

/// Returns whether SequenceWalk knows the fleet.
bool can_walk(const QuadraticFleet& fleet);

}  // namespace gv
