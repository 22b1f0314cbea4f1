#include "graph/spectrum.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>
#include <Spectra/SymEigsSolver.h>

namespace gv {
namespace {

constexpr PeerId dense_limit = 512;

Eigen::MatrixXd dense(const MixingMatrix& w) {
  const auto n = static_cast<Eigen::Index>(w.size());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n, n);
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    m(i, i) = row.self;
    for (std::size_t k = 0; k < row.peers.size(); ++k) m(i, row.peers[k]) = row.weights[k];
  }
  return m;
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

/// x -> W x - mean(x), or (W - J)^T (W - J) x when directed: the all-ones vector is deflated.
/// Spectra asks for the operation, not for the matrix.
class Deflated {
 public:
  using Scalar = double;
  explicit Deflated(const MixingMatrix& w) : w_(w), middle_(w.size()) {}
  Eigen::Index rows() const { return static_cast<Eigen::Index>(w_.size()); }
  Eigen::Index cols() const { return rows(); }

  void perform_op(const double* x, double* y) const {
    if (!w_.directed()) {
      w_.apply(x, y);
      subtract_mean(x, y);
      return;
    }
    w_.apply(x, middle_.data());
    subtract_mean(x, middle_.data());
    w_.apply_transposed(middle_.data(), y);
    subtract_mean(middle_.data(), y);
  }

 private:
  void subtract_mean(const double* x, double* y) const {
    double sum = 0;
    for (PeerId i = 0; i < w_.size(); ++i) sum += x[i];
    const double mean = sum / w_.size();
    for (PeerId i = 0; i < w_.size(); ++i) y[i] -= mean;
  }

  const MixingMatrix& w_;
  mutable std::vector<double> middle_;
};

double extreme_eigenvalue(const MixingMatrix& w, Spectra::SortRule rule) {
  const Deflated op(w);
  const auto n = static_cast<Eigen::Index>(w.size());
  const Eigen::Index vectors = std::min<Eigen::Index>(n, 96);
  Spectra::SymEigsSolver<Deflated> solver(const_cast<Deflated&>(op), 1, vectors);
  Eigen::VectorXd start(n);
  for (Eigen::Index i = 0; i < n; ++i) start[i] = std::sin(1.0 + 12.9898 * static_cast<double>(i));
  solver.init(start.data());
  solver.compute(rule, 2000, 1e-13);
  if (solver.info() != Spectra::CompInfo::Successful) {
    throw std::runtime_error("Lanczos did not converge in 2000 restarts on " +
                             std::to_string(w.size()) + " peers");
  }
  return solver.eigenvalues()[0];
}

}  // namespace

std::vector<double> eigenvalues(const MixingMatrix& w) {
  if (w.directed()) throw std::invalid_argument("eigenvalues: the mixing matrix is directed");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense(w), Eigen::EigenvaluesOnly);
  const auto& ascending = solver.eigenvalues();
  return {std::make_reverse_iterator(ascending.data() + ascending.size()),
          std::make_reverse_iterator(ascending.data())};
}

Spectrum dense_spectrum(const MixingMatrix& w) {
  const PeerId n = w.size();
  if (n == 1) return w.directed() ? from_singular_value(0, "dense") : from_extremes(0, 0, "dense");
  if (w.directed()) {
    const Eigen::MatrixXd deflated = dense(w).array() - 1.0 / n;
    const Eigen::MatrixXd gram = deflated.transpose() * deflated;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
    return from_singular_value(std::sqrt(std::max(0.0, solver.eigenvalues().maxCoeff())), "dense");
  }
  const std::vector<double> all = eigenvalues(w);
  return from_extremes(all[1], all.back(), "dense");
}

Spectrum lanczos_spectrum(const MixingMatrix& w) {
  if (w.size() < 4) return dense_spectrum(w);
  const double largest = extreme_eigenvalue(w, Spectra::SortRule::LargestAlge);
  if (w.directed()) return from_singular_value(std::sqrt(std::max(0.0, largest)), "lanczos");
  return from_extremes(largest, extreme_eigenvalue(w, Spectra::SortRule::SmallestAlge), "lanczos");
}

Spectrum spectrum(const MixingMatrix& w, const TopologySpec* spec, std::string_view weights) {
  if (spec != nullptr) {
    if (const std::optional<Spectrum> closed = closed_form_spectrum(*spec, w.size(), weights))
      return *closed;
  }
  return w.size() <= dense_limit ? dense_spectrum(w) : lanczos_spectrum(w);
}

}  // namespace gv
