#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/family.h"

namespace gv {

/// Extreme eigenvalues of W on the complement of the all-ones vector.
struct Spectrum {
  std::optional<double> lambda2;   ///< second largest; empty for a directed W
  std::optional<double> lambda_n;  ///< smallest; empty for a directed W
  double slem =
      0;  ///< max(|lambda2|, |lambda_n|) = ||W - J||_2 (second singular value when directed)
  double gap = 1;        ///< 1 - slem, computed without cancellation if there is a closed form
  double gap_error = 0;  ///< relative error of the gap, if a bound is known: at most 1e-6
  std::string method;    ///< "closed form" | "dense" | "lanczos" | "shift-invert"

  double rho() const { return slem * slem; }  ///< Lian's rho (arXiv:1705.09056, Assumption 1.2)
};

/// Closed form if the family and the weights have one (circulants, torus, path, hypercube,
/// complete, star), dense up to 512 peers, sparse_spectrum above. `spec` may be null: no closed
/// form.
Spectrum spectrum(const MixingMatrix& w,
                  const TopologySpec* spec = nullptr,
                  std::string_view weights = "metropolis");

std::optional<Spectrum> closed_form_spectrum(const TopologySpec& spec,
                                             PeerId n,
                                             std::string_view weights);
Spectrum dense_spectrum(const MixingMatrix& w);
/// Both gaps, 1 - lambda2 and 1 + lambda_n, within a relative 1e-6. Lanczos on W with the all-ones
/// vector deflated, which is enough for an expander; once that has cost as much as a sparse
/// factorization would (rings, trees, small worlds with few long edges), shift-invert. So it never
/// costs more than about twice the better method. Throws std::runtime_error with the gaps reached
/// if neither converges: never a silent wrong value.
Spectrum sparse_spectrum(const MixingMatrix& w);

/// All eigenvalues, descending (dense; undirected only).
std::vector<double> eigenvalues(const MixingMatrix& w);
/// Returns the eigenvalues of a directed W without the 1 of the all-ones vector, unordered. Throws
/// std::invalid_argument above 1024 peers.
std::vector<std::complex<double>> directed_eigenvalues(const MixingMatrix& w);
/// Returns whether W W^T = W^T W, so that W has orthogonal modes: an undirected W and a circulant
/// have. Throws std::invalid_argument for a directed W above 1024 peers.
bool is_normal(const MixingMatrix& w);

/// Throws std::invalid_argument with `name` if W has negative weights and would make some
/// disagreement grow: ||W - J|| > 1.
void require_bounded(const MixingMatrix& w, const std::string& name);

}  // namespace gv
