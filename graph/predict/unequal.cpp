#include "graph/predict/unequal.h"

#include <algorithm>
#include <stdexcept>

#include <Eigen/Dense>

#include "graph/mixing/dense.h"

namespace gv {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Vector column(const std::vector<std::vector<double>>& rows, std::size_t k) {
  Vector v(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) v[static_cast<Eigen::Index>(i)] = rows[i][k];
  return v;
}

void check(const MixingMatrix& w, const UnequalQuadratic& p) {
  const std::size_t columns = p.hessian.empty() ? 0 : p.hessian[0].size();
  const auto wrong = [columns](const auto& row) { return row.size() != columns || columns == 0; };
  if (p.hessian.size() != w.size() || p.centers.size() != w.size() ||
      std::ranges::any_of(p.hessian, wrong) || std::ranges::any_of(p.centers, wrong)) {
    throw std::invalid_argument("predict_unequal: hessian and centers must have " +
                                std::to_string(w.size()) + " rows of one length");
  }
  if (p.order != "lian" && p.order != "atc" && p.order != "cta")
    throw std::invalid_argument("predict_unequal: order lian, atc or cta, not `" + p.order + "`");
}

/// P = M P M^T + Q; false when M grows.
bool solve_covariance(Matrix m, Matrix& p) {
  for (int k = 0; k < 64; ++k) {
    const double size = m.cwiseAbs().maxCoeff();
    if (!(size < 1e60)) return false;
    if (size < 1e-18) return true;
    p += (m * p * m.transpose()).eval();
    m = (m * m).eval();
  }
  return false;
}

bool add_coordinate(const Matrix& w,
                    const UnequalQuadratic& p,
                    const Vector& h,
                    const Vector& b,
                    UnequalStationary& sum) {
  const auto n = static_cast<double>(w.rows());
  const Matrix identity = Matrix::Identity(w.rows(), w.rows());
  const Matrix shrink = identity - p.rate * Matrix(h.asDiagonal());
  const Matrix& after = p.order == "atc" ? w : identity;
  Matrix m = w - p.rate * Matrix(h.asDiagonal());
  if (p.order == "atc") m = w * shrink;
  if (p.order == "cta") m = shrink * w;
  Matrix covariance = p.noise * p.rate * p.rate * after * after.transpose();
  if (!solve_covariance(m, covariance)) return false;
  const double minimum = h.dot(b) / h.sum();
  const Vector c = p.rate * after * h.cwiseProduct(b - Vector::Constant(b.size(), minimum));
  const Vector error = (identity - m).partialPivLu().solve(c);  // from the minimum
  const double mean = error.mean();
  const double mean_variance = covariance.sum() / (n * n);
  const double square = (error.squaredNorm() + covariance.trace()) / n;
  const double curvature = h.mean();
  sum.consensus += square - mean * mean - mean_variance;
  sum.excess_mean += curvature / 2 * (mean * mean + mean_variance);
  sum.excess_local += curvature / 2 * square;
  sum.bias += curvature / 2 * mean * mean;
  return true;
}

}  // namespace

std::optional<UnequalStationary> predict_unequal(const MixingMatrix& w,
                                                 const UnequalQuadratic& problem) {
  check(w, problem);
  const Matrix matrix = dense_matrix(w);
  UnequalStationary sum;
  for (std::size_t k = 0; k < problem.hessian[0].size(); ++k) {
    if (!add_coordinate(
            matrix, problem, column(problem.hessian, k), column(problem.centers, k), sum))
      return std::nullopt;
  }
  return sum;
}

}  // namespace gv
