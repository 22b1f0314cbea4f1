#include "graph/spectrum/selected_inverse.h"

#include <algorithm>
#include <vector>

#include <Eigen/SparseCholesky>

#include "graph/spectrum/shift_invert.h"

namespace gv {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// The lower half of I - W or I + W, of the first `size` peers. What I - W keeps on its diagonal is
/// summed from the weights, so that its rows sum to zero.
Sparse lower_half(const SparseRows& w, double sign, std::size_t size) {
  std::vector<Eigen::Triplet<double>> lower;
  std::vector<double> diagonal(w.size());
  w.for_each([&](std::size_t i, std::size_t j, double weight) {
    diagonal[i] += weight;
    if (j < i && i < size)
      lower.emplace_back(static_cast<int>(i), static_cast<int>(j), sign * weight);
  });
  for (std::size_t i = 0; i < size; ++i) {
    const double value = sign < 0 ? diagonal[i] : 1 + w.self(i);
    lower.emplace_back(static_cast<int>(i), static_cast<int>(i), value);
  }
  const auto n = static_cast<Eigen::Index>(size);
  Sparse matrix(n, n);
  matrix.setFromTriplets(lower.begin(), lower.end());
  return matrix;
}

/// The entries of the inverse where the factor has some, from the last column to the first: Z_ij =
/// -sum_k L_kj Z_ik and Z_jj = 1 / D_j - sum_k L_kj Z_kj over the rows k of column j of L.
class SelectedInverse : public Eigen::SimplicialLDLT<Sparse, Eigen::Lower> {
 public:
  explicit SelectedInverse(const Sparse& matrix)
      : Eigen::SimplicialLDLT<Sparse, Eigen::Lower>(matrix) {}

  bool positive() const { return info() == Eigen::Success && m_diag.minCoeff() > 0; }

  /// 1^T inverse 1.
  double sum() const { return solve(Eigen::VectorXd::Ones(m_matrix.cols())).sum(); }

  double trace() const {
    const Eigen::Index n = m_matrix.cols();
    std::vector<double> inverse(static_cast<std::size_t>(m_matrix.outerIndexPtr()[n]));
    std::vector<double> diagonal(static_cast<std::size_t>(n));
    double sum = 0;
    for (Eigen::Index j = n - 1; j >= 0; --j) {
      diagonal[static_cast<std::size_t>(j)] = column(j, inverse, diagonal);
      sum += diagonal[static_cast<std::size_t>(j)];
    }
    return sum;
  }

 private:
  /// Every pair of rows of column j stands in the factor too, the larger in the smaller's column.
  double column(Eigen::Index j,
                std::vector<double>& inverse,
                const std::vector<double>& diagonal) const {
    const int* rows = m_matrix.innerIndexPtr();
    const double* factor = m_matrix.valuePtr();
    const int begin = m_matrix.outerIndexPtr()[j];
    const int end = m_matrix.outerIndexPtr()[j + 1];
    double* const own = inverse.data() + begin;
    std::fill(own, own + (end - begin), 0.0);
    for (int b = begin; b < end; ++b) {
      const int k = rows[b];
      own[b - begin] -= factor[b] * diagonal[static_cast<std::size_t>(k)];
      int at = m_matrix.outerIndexPtr()[k];
      for (int a = b + 1; a < end; ++a) {
        while (rows[at] != rows[a]) ++at;
        const double value = inverse[static_cast<std::size_t>(at)];
        own[a - begin] -= factor[b] * value;
        own[b - begin] -= factor[a] * value;
      }
    }
    double sum = 1 / m_diag[j];
    for (int a = begin; a < end; ++a) sum -= factor[a] * own[a - begin];
    return sum;
  }
};

}  // namespace

std::optional<Estimate> selected_s1(const SparseRows& w, double most_flops) {
  if (w.size() < 2 || factor_cost(w).flops > most_flops) return std::nullopt;
  const SelectedInverse mixing(lower_half(w, -1, w.size() - 1));
  const SelectedInverse alternation(lower_half(w, 1, w.size()));
  if (!mixing.positive() || !alternation.positive()) return std::nullopt;
  const auto n = static_cast<double>(w.size());
  // The mean's mode is 1 / 2 of the alternating end.
  const double sum = mixing.trace() - mixing.sum() / n + alternation.trace() - 0.5;
  return Estimate{sum / (2 * n), 0};
}

}  // namespace gv
