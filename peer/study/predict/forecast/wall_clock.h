#pragma once

#include <cstddef>

namespace gv {

/// The figures that the closed forms of a step's wall clock need, all in seconds and bytes:
/// Hockney's alpha-beta model (see round_prediction.h) with one full-duplex card per machine.
struct WallClock {
  std::size_t peers = 1;
  double latency = 0;      ///< alpha, one way
  double bandwidth = 0;    ///< B, bytes per second of each card; 0: without limit
  double model_bytes = 0;  ///< M
  double compute = 0;      ///< C, of one gradient

  /// Ring all-reduce, after the gradient: C + 2 (n - 1) alpha + 2 (n - 1) / n M / B. Patarasuk &
  /// Yuan, JPDC 2009.
  double ring_all_reduce() const;
  /// A synchronous parameter server behind one card: C + 2 alpha + 2 n M / B, gathering and
  /// scattering one after the other.
  double server() const;
  /// Gossip of `models` models a step: alpha + models M / B, hidden behind the gradient where
  /// `overlaps` (the order of Lian et al. 2017), else after it.
  double gossip(double models, bool overlaps) const;

 private:
  double bytes_seconds(double models) const;
};

}  // namespace gv
