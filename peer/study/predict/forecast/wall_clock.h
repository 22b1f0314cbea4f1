#pragma once

#include <cstddef>

namespace gv {

/// Parameters of the closed forms for a step's wall-clock time, in seconds and bytes: Hockney's
/// alpha-beta model (see round_prediction.h) with one full-duplex card per machine.
struct WallClock {
  std::size_t peers = 1;
  double latency = 0;      ///< alpha, one way
  double bandwidth = 0;    ///< B, bytes per second of each card; 0: unlimited
  double model_bytes = 0;  ///< M
  double compute = 0;      ///< C, one gradient

  /// Ring all-reduce after the gradient: C + 2 (n - 1) alpha + 2 (n - 1) / n M / B. Patarasuk &
  /// Yuan, JPDC 2009.
  double ring_all_reduce() const;
  /// A synchronous parameter server with one card: C + 2 alpha + 2 n M / B, gathering and then
  /// scattering.
  double server() const;
  /// Gossip of `models` models per step: alpha + models M / B, concurrent with the gradient if
  /// `overlaps` (the order of Lian et al. 2017), else after it.
  double gossip(double models, bool overlaps) const;

 private:
  double bytes_seconds(double models) const;
};

}  // namespace gv
