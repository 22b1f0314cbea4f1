#include "graph/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Core>

#include "graph/mixing/dense.h"
#include "graph/mixing/dense_eigen.h"

namespace gv {
namespace {

constexpr PeerId dense_limit = 512;
constexpr PeerId directed_limit = 1024;

void require_small(const MixingMatrix& w) {
  if (w.size() > directed_limit) {
    throw std::invalid_argument("modes: a directed W of " + std::to_string(w.size()) +
                                " peers without a closed form; at most " +
                                std::to_string(directed_limit) + " can be computed");
  }
}

Spectrum from_extremes(double lambda2, double lambda_n, const char* method) {
  Spectrum s;
  s.lambda2 = lambda2;
  s.lambda_n = lambda_n;
  s.slem = std::max(std::abs(lambda2), std::abs(lambda_n));
  s.gap = 1 - s.slem;
  s.method = method;
  return s;
}

Spectrum from_singular_value(double sigma, const char* method) {
  Spectrum s;
  s.slem = sigma;
  s.gap = 1 - sigma;
  s.method = method;
  return s;
}

}  // namespace

std::vector<double> eigenvalues(const MixingMatrix& w) {
  if (w.directed()) throw std::invalid_argument("eigenvalues: the mixing matrix is directed");
  const Eigen::VectorXd ascending = symmetric_values(dense_matrix(w));
  std::vector<double> all(ascending.begin(), ascending.end());
  std::ranges::reverse(all);
  // 1 and -1 occur exactly (parts without an edge between them; bipartite graphs), else not so
  // near.
  for (double& value : all)
    if (std::abs(std::abs(value) - 1) < 1e-14) value = std::copysign(1, value);
  return all;
}

std::vector<std::complex<double>> directed_eigenvalues(const MixingMatrix& w) {
  require_small(w);
  // The all-ones vector is moved from 1 to 0, and one 0 dropped.
  const Eigen::MatrixXd deflated = dense_matrix(w).array() - 1.0 / w.size();
  const Eigen::VectorXcd values = general_values(deflated);
  std::vector<std::complex<double>> all(values.begin(), values.end());
  all.erase(std::ranges::min_element(all, {}, [](const auto& value) { return std::abs(value); }));
  return all;
}

bool is_normal(const MixingMatrix& w) {
  if (!w.directed()) return true;
  require_small(w);
  const Eigen::MatrixXd m = dense_matrix(w);
  const Eigen::MatrixXd commutator = m * m.transpose() - m.transpose() * m;
  return commutator.cwiseAbs().maxCoeff() <= 1e-12;
}

Spectrum dense_spectrum(const MixingMatrix& w) {
  const PeerId n = w.size();
  if (n == 1) return w.directed() ? from_singular_value(0, "dense") : from_extremes(0, 0, "dense");
  if (w.directed()) {
    const Eigen::MatrixXd deflated = dense_matrix(w).array() - 1.0 / n;
    return from_singular_value(largest_singular_value(deflated), "dense");
  }
  const std::vector<double> all = eigenvalues(w);
  return from_extremes(all[1], all.back(), "dense");
}

Spectrum spectrum(const MixingMatrix& w, const TopologySpec* spec, std::string_view weights) {
  if (spec != nullptr) {
    if (const std::optional<Spectrum> closed = closed_form_spectrum(*spec, w.size(), weights))
      return *closed;
  }
  return w.size() <= dense_limit ? dense_spectrum(w) : sparse_spectrum(w);
}

}  // namespace gv
