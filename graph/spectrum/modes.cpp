#include "graph/spectrum/modes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <Eigen/SparseCholesky>

#include "graph/spectrum/lanczos.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

constexpr PeerId most_dense = 4096;

std::vector<double> signs(std::size_t n, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<double> v(n);
  for (double& value : v) value = (random.bits() & 1) != 0 ? 1 : -1;
  subtract_mean(v.data(), n);
  return v;
}

std::vector<Mode> from(const Lanczos& run, std::size_t n) {
  const Lanczos::Quadrature q = run.quadrature();
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < q.nodes.size(); ++k)
    modes.push_back({{q.nodes[k]}, q.weights[k] * static_cast<double>(n - 1)});
  return modes;
}

double total(const std::vector<Mode>& modes, const std::function<double(const Mode&)>& f) {
  double sum = 0;
  for (const Mode& mode : modes) sum += mode.count * f(mode);
  return sum;
}

using Sparse = Eigen::SparseMatrix<double>;

/// The lower half of I - W or I + W, of the first `size` peers. The diagonal of I - W is summed
/// from the weights, so that its rows sum to zero.
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

/// The entries of the inverse in the pattern of the factor, from the last column to the first: Z_ij
/// = -sum_k L_kj Z_ik and Z_jj = 1 / D_j - sum_k L_kj Z_kj over the rows k of column j of L.
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
  /// Every pair of rows of column j is in the factor too, the larger in the smaller's column.
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

Estimate Modes::sum(const std::function<double(const Mode&)>& f) const {
  std::vector<double> sums;
  for (const std::vector<Mode>& sample : samples) sums.push_back(total(sample, f));
  const auto m = static_cast<double>(sums.size());
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / m;
  if (coarse.empty()) return {mean, 0};
  double square = 0;
  for (const double s : sums) square += (s - mean) * (s - mean);
  double missed = mean;
  for (const std::vector<Mode>& sample : coarse) missed -= total(sample, f) / m;
  return {mean, std::sqrt(square / (m * (m - 1))) + std::abs(missed)};
}

Modes dense_modes(const MixingMatrix& w) {
  if (w.directed()) {
    // A normal matrix has orthogonal modes, which is all that the per-mode theory needs.
    if (!is_normal(w)) {
      throw std::invalid_argument(
          "modes: this directed W is not normal (W W^T differs from W^T W), so it has no "
          "orthogonal modes; circulants and symmetric weights do");
    }
    std::vector<Mode> modes;
    for (const auto& value : directed_eigenvalues(w)) modes.push_back({{value}, 1});
    return {w.size(), {std::move(modes)}, {}, "dense"};
  }
  std::vector<Mode> modes;
  const std::vector<double> values = eigenvalues(w);
  for (std::size_t j = 1; j < values.size(); ++j) modes.push_back({{values[j]}, 1});
  return {w.size(), {std::move(modes)}, {}, "dense"};
}

Modes stochastic_modes(const MixingMatrix& w, int probes, std::size_t steps) {
  if (w.directed()) throw std::invalid_argument("stochastic_modes: the mixing matrix is directed");
  const SparseRows rows(w);
  Modes modes{w.size(), {}, {}, "stochastic trace"};
  for (int p = 0; p < probes; ++p) {
    Lanczos run(
        [&rows](const double* x, double* y) {
          rows.apply(x, y);
          subtract_mean(y, rows.size());
        },
        signs(rows.size(), static_cast<std::uint64_t>(p) + 1));
    run.extend(steps / 2);
    modes.coarse.push_back(from(run, rows.size()));
    run.extend(steps);
    modes.samples.push_back(from(run, rows.size()));
  }
  return modes;
}

Modes modes_of(const MixingMatrix& w, const TopologySpec* spec, std::string_view weights) {
  if (spec != nullptr) {
    if (std::optional<Modes> closed = closed_form_modes(*spec, w.size(), weights)) return *closed;
  }
  if (w.directed() || w.size() <= most_dense) return dense_modes(w);
  // The traces of large matrices scatter little: by about sqrt(2 / n).
  return stochastic_modes(w, w.size() < 100'000 ? 8 : 3, 300);
}

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

TransientOrders transient_orders(PeerId n, double gap) {
  const double p = gap * (2 - gap);
  const double cube = std::pow(n, 3);
  return {cube / (p * p), cube / std::pow(p, 4), n / (gap * gap)};
}

}  // namespace gv
