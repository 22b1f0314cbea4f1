#include "graph/schedule/one_peer.h"

#include <bit>
#include <numeric>
#include <utility>

namespace gv {
namespace {

class OnePeerExponential final : public MixingSchedule {
 public:
  explicit OnePeerExponential(PeerId n) : n_(n) {}

  PeerId size() const override { return n_; }
  bool directed() const override { return true; }
  std::uint64_t period() const override {
    return n_ < 3 ? 1 : static_cast<std::uint64_t>(std::bit_width(n_ - 1));  // ceil(log2 n)
  }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    if (n_ == 1) return {};
    const PeerId hop = PeerId{1} << (round % period());
    return {.self = 0.5,
            .peers = {(i + n_ - hop) % n_},
            .weights = {0.5},
            .receivers = {(i + hop) % n_}};
  }

 private:
  PeerId n_;
};

class RandomMatching final : public MixingSchedule {
 public:
  RandomMatching(PeerId n, std::uint64_t seed) : n_(n), seed_(seed) {}

  PeerId size() const override { return n_; }
  std::uint64_t period() const override { return 0; }

  /// A shuffle (Fisher & Yates) pairs the peers at the places 0 and 1, 2 and 3, ...
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    std::vector<PeerId> order(n_);
    std::iota(order.begin(), order.end(), PeerId{0});
    SplitMix rng = generator_of(seed_, round);
    std::size_t place = 0;
    for (std::size_t k = n_; k > 0; --k) {
      std::swap(order[k - 1], order[rng.below(k)]);
      if (order[k - 1] == i) place = k - 1;
    }
    const std::size_t other = place ^ 1;
    return pair_row(i, other < n_ ? order[other] : i, 0.5);
  }

  /// Each W is a projection, so E[W^T W] = E[W] = I - L / 2 times the probability of a pair, which
  /// is 1 / (n - 1), or 1 / n when one peer is left out.
  std::optional<double> contraction() const override {
    if (n_ < 3) return 0;
    const double n = n_;
    return n_ % 2 == 0 ? (n - 2) / (2 * (n - 1)) : 0.5;
  }

 private:
  PeerId n_;
  std::uint64_t seed_;
};

}  // namespace

SplitMix generator_of(std::uint64_t seed, std::uint64_t round) {
  return SplitMix(seed ^ SplitMix(round).bits());
}

Neighborhood pair_row(PeerId i, PeerId partner, double weight) {
  if (partner == i) return {};
  return {.self = 1 - weight, .peers = {partner}, .weights = {weight}, .receivers = {partner}};
}

std::unique_ptr<MixingSchedule> one_peer_exponential(PeerId n) {
  return std::make_unique<OnePeerExponential>(n);
}

std::unique_ptr<MixingSchedule> random_matching(PeerId n, std::uint64_t seed) {
  return std::make_unique<RandomMatching>(n, seed);
}

}  // namespace gv
