#include "graph/predict/pull_modes.h"

#include <algorithm>
#include <stdexcept>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

#include "graph/mixing/dense.h"

namespace gv {
namespace {

using Complex = std::complex<double>;

constexpr PeerId placed_limit = 256;

}  // namespace

PullModes::PullModes(const MixingMatrix& w) : peers_(w.size()) {
  const bool placed = w.size() <= placed_limit;
  if (!placed || w.size() == 1) {
    if (w.size() > 1) modes_ = modes_of(w).samples[0];
    return;
  }
  const Eigen::MatrixXd m = dense_matrix(w);
  const Eigen::MatrixXd commutator = m * m.transpose() - m.transpose() * m;
  if (commutator.cwiseAbs().maxCoeff() > 1e-10)
    throw std::invalid_argument(
        "predict_local: this directed W is not normal: no orthogonal modes");
  // A normal matrix is diagonal in its Schur basis. The mean's mode is moved from 1 to 3.
  const Eigen::MatrixXd shifted = m.array() + 2.0 / w.size();
  const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(shifted.cast<Complex>());
  for (Eigen::Index j = 0; j < m.rows(); ++j) {
    const Complex lambda = schur.matrixT()(j, j);
    if (lambda.real() > 2) continue;
    modes_.push_back({{lambda}, 1});
    for (Eigen::Index i = 0; i < m.rows(); ++i) vectors_.push_back(schur.matrixU()(i, j));
  }
}

PullModes PullModes::exact_averaging(PeerId n) {
  return {n, {{{0.0}, n - 1.0}}};
}

std::vector<double> PullModes::powers(const std::vector<double>& gram) const {
  const std::size_t n = peers_;
  std::vector<double> result;
  if (vectors_.empty()) {
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += gram[i * n + i];
    for (const Mode& mode : modes_)
      result.push_back(mode.count * trace / (static_cast<double>(n) - 1));
    return result;
  }
  for (std::size_t j = 0; j < modes_.size(); ++j) {
    const Complex* q = vectors_.data() + j * n;
    Complex sum = 0;
    for (std::size_t a = 0; a < n; ++a) {
      Complex row = 0;
      for (std::size_t b = 0; b < n; ++b) row += gram[a * n + b] * q[b];
      sum += std::conj(q[a]) * row;
    }
    result.push_back(std::max(0.0, sum.real()));
  }
  return result;
}

}  // namespace gv
