#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gv {

/// Weights of numbered places, and the place at which their running sum passes a number, both in
/// logarithmic time. Each node is the sum of its children in ascending order, made again whenever
/// one of them changes, so that nothing drifts and equal weights give equal bits. Schaul, Quan,
/// Antonoglou & Silver 2016, arXiv:1511.05952, appendix B.2.1.
class SumTree {
 public:
  /// All weights are 0.
  explicit SumTree(std::size_t places);
  /// `weight` is finite and not negative.
  void set(std::size_t place, double weight);
  double weight(std::size_t place) const { return levels_.front()[place]; }
  double total() const { return levels_.back().front(); }
  /// places[k] <- the first place up to which the weights sum to more than at[k], in [0, total());
  /// its weight is not 0. Some weight must not be 0. `at` is used up.
  void find(std::span<double> at, std::span<std::uint32_t> places) const;

 private:
  std::vector<std::vector<double>> levels_;  ///< leaves first, the root alone last
};

}  // namespace gv
