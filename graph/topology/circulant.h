#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "graph/topology/family.h"

// Circulant graphs look alike from every peer: their eigenvalues are the discrete Fourier transform
// of one row of W. Davis, "Circulant matrices", Wiley 1979.

namespace gv {

/// e^(2 pi i k / n), from an angle that is reduced exactly.
inline std::complex<double> root_of_unity(std::uint64_t k, PeerId n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k % n) / n);
}

/// The eigenvalues m = 1 .. n - 1 of a circulant of real weights, value(m) being the m-th: those of
/// m and n - m are conjugate, so one stands for both.
template <class Value>
std::vector<Eigenvalue> circulant_eigenvalues(PeerId n, Value value) {
  std::vector<Eigenvalue> values;
  for (PeerId m = 1; m <= n / 2; ++m) values.push_back({value(m), 2 * m == n ? 1.0 : 2.0});
  return values;
}

/// 1, 2, 4, ... below n: the hops of the exponential graphs.
inline std::vector<PeerId> doubling_hops(PeerId n) {
  std::vector<PeerId> hops;
  for (std::uint64_t hop = 1; hop < n; hop *= 2) hops.push_back(static_cast<PeerId>(hop));
  return hops;
}

}  // namespace gv
