#include "graph/schedule/one_peer.h"

#include <bit>
#include <numeric>
#include <utility>

#include "graph/schedule/family.h"
#include "graph/topology/circulant.h"

namespace gv {
namespace {

/// Round t: i hears i - 2^{t mod tau}, weights 1/2, tau = ceil(log2 n). Directed. The product over
/// a period is exact averaging when n is a power of two. Ying et al. 2021, arXiv:2110.13363.
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

/// Every round a matching of all peers, uniformly at random, weights 1/2; n odd leaves one peer
/// out. Boyd, Ghosh, Prabhakar & Shah, "Randomized gossip algorithms", IEEE Trans. Inf. Theory
/// 2006, in its synchronous form.
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

std::unique_ptr<MixingSchedule> make_one_peer_exponential(const ScheduleSpec&, PeerId n) {
  return std::make_unique<OnePeerExponential>(n);
}

/// W_t = (I + P^(2^t)) / 2, t < ceil(log2 n), share the Fourier basis. Ying et al. 2021.
std::optional<Modes> one_peer_exponential_modes(const ScheduleSpec&, PeerId n) {
  const std::vector<PeerId> hops = doubling_hops(n);
  std::vector<Mode> modes;
  for (PeerId m = 1; m <= n / 2; ++m) {
    Mode& mode = modes.emplace_back();
    mode.count = 2 * m == n ? 1 : 2;  // m and n - m are conjugate
    for (const PeerId hop : hops)
      mode.values.push_back((1.0 + root_of_unity(std::uint64_t{m} * hop, n)) / 2.0);
  }
  return Modes{n, {std::move(modes)}, {}, "closed form"};
}

constexpr GraphParameter random_matching_parameters[] = {seed_parameter};

std::unique_ptr<MixingSchedule> make_random_matching(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<RandomMatching>(n, spec.parameters.seed());
}

/// Every direction off the mean has E W = E W^T W = kappa: W is a projection in every round, so its
/// mean is its mean square.
std::optional<Modes> random_matching_modes(const ScheduleSpec& spec, PeerId n) {
  const double kappa = *RandomMatching(n, spec.parameters.seed()).contraction();
  return Modes{n, {{{{kappa}, n - 1.0, kappa - kappa * kappa}}}, {}, "expectation"};
}

}  // namespace

SplitMix generator_of(std::uint64_t seed, std::uint64_t round) {
  return SplitMix(seed ^ SplitMix(round).bits());
}

Neighborhood pair_row(PeerId i, PeerId partner, double weight) {
  if (partner == i) return {};
  return {.self = 1 - weight, .peers = {partner}, .weights = {weight}, .receivers = {partner}};
}

extern constinit const ScheduleFamily one_peer_exponential_family{
    .name = "one-peer-exponential",
    .summary =
        "directed: in round t peer i receives from i - 2^t, t modulo ceil(log2 n); "
        "arXiv:2110.13363",
    .make = make_one_peer_exponential,
    .modes = one_peer_exponential_modes,
    .searched = search_alone,
};

extern constinit const ScheduleFamily random_matching_family{
    .name = "random-matching",
    .summary = "every round pairs all peers at random; Boyd et al. 2006",
    .parameters = random_matching_parameters,
    .example = "seed=3",
    .make = make_random_matching,
    .modes = random_matching_modes,
    .searched = search_alone,
};

}  // namespace gv
