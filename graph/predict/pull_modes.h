#pragma once

#include <complex>
#include <utility>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/spectrum/modes.h"

namespace gv {

/// The modes of one W as pulls see them.
class PullModes {
 public:
  /// The peers' own places for a normal W of at most 256 peers; else the expectation over a random
  /// placement. Throws std::invalid_argument where modes_of does.
  explicit PullModes(const MixingMatrix& w);
  /// Returns the modes of W = 11^T / n: all 0.
  static PullModes exact_averaging(PeerId n);
  /// |G_j|^2 of every mode but the mean's, as modes() orders them.
  std::vector<double> powers(const std::vector<double>& gram) const;
  const std::vector<Mode>& modes() const { return modes_; }
  PeerId peers() const { return peers_; }

 private:
  PullModes(PeerId peers, std::vector<Mode> modes) : peers_(peers), modes_(std::move(modes)) {}

  PeerId peers_;
  std::vector<Mode> modes_;
  std::vector<std::complex<double>> vectors_;  ///< row by row like modes_; empty: expectation
};

}  // namespace gv
