#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/family.h"
#include "graph/mixing.h"

namespace gv {

/// Extreme eigenvalues of W on the complement of the all-ones vector.
struct Spectrum {
  std::optional<double> lambda2;   ///< second largest; empty for a directed W
  std::optional<double> lambda_n;  ///< smallest; empty for a directed W
  double slem =
      0;  ///< max(|lambda2|, |lambda_n|) = ||W - J||_2 (second singular value when directed)
  double gap = 1;      ///< 1 - slem, computed without cancellation where there is a closed form
  std::string method;  ///< "closed form" | "dense" | "lanczos"

  double rho() const { return slem * slem; }  ///< Lian's rho (arXiv:1705.09056, Assumption 1.2)
};

/// Closed form where the family and the weights have one (theory: circulants, torus, path,
/// hypercube, complete, star), dense up to 512 peers, deflated Lanczos (Spectra) beyond. `spec` may
/// be null: then no closed form is tried. Throws std::runtime_error when Lanczos does not converge:
/// never a silent wrong value.
Spectrum spectrum(const MixingMatrix& w,
                  const TopologySpec* spec = nullptr,
                  std::string_view weights = "metropolis");

std::optional<Spectrum> closed_form_spectrum(const TopologySpec& spec,
                                             PeerId n,
                                             std::string_view weights);
Spectrum dense_spectrum(const MixingMatrix& w);
Spectrum lanczos_spectrum(const MixingMatrix& w);

/// All eigenvalues, descending (dense; undirected only).
std::vector<double> eigenvalues(const MixingMatrix& w);

}  // namespace gv
