#include "graph/mixing/dense_eigen.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace gv {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

Eigen::VectorXd symmetric_values(const Eigen::MatrixXd& m) {
  return Solver(m, Eigen::EigenvaluesOnly).eigenvalues();
}

EigenPairs symmetric_pairs(const Eigen::MatrixXd& m) {
  const Solver solver(m);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd tridiagonal_values(const Entries& diagonal, const Entries& side) {
  return Solver().computeFromTridiagonal(diagonal, side, Eigen::EigenvaluesOnly).eigenvalues();
}

EigenPairs tridiagonal_pairs(const Entries& diagonal, const Entries& side) {
  Solver solver;
  solver.computeFromTridiagonal(diagonal, side);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd general_values(const Eigen::MatrixXd& m) {
  return m.eigenvalues();
}

double largest_singular_value(const Eigen::MatrixXd& m) {
  return std::sqrt(std::max(0.0, symmetric_values(m.transpose() * m).maxCoeff()));
}

}  // namespace gv
