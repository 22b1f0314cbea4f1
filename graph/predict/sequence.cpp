#include "graph/predict/sequence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/predict/sequence_walk.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

constexpr std::uint64_t n_stretches = 8;

/// Returns the sum of squares of all columns around their means.
double disagreement(const PeerRows& x) {
  double sum = 0;
  for (std::size_t k = 0; k < x[0].size(); ++k) {
    double mean = 0;
    for (const auto& row : x) mean += row[k] / static_cast<double>(x.size());
    for (const auto& row : x) sum += (row[k] - mean) * (row[k] - mean);
  }
  return sum;
}

/// Rounds after which hardly anything of a disagreement is left; at most `most`.
std::uint64_t memory(const MixingSchedule& schedule, std::uint64_t most) {
  const PeerId n = schedule.size();
  PeerRows x(n, std::vector<double>(4));
  SplitMix rng(n);
  for (auto& row : x)
    for (double& value : row) value = rng.uniform() - 0.5;
  const double begin = disagreement(x);
  std::uint64_t t = 0;
  for (; t < most && disagreement(x) > 1e-5 * begin; ++t) x = mixed(schedule.matrix(t), x);
  return std::max<std::uint64_t>(t, 1);
}

/// Means over the stretches of a walk; the errors are theirs.
class Stretches {
 public:
  void add(const Stationary& s) {
    consensus_.push_back(s.consensus.value);
    local_.push_back(s.excess_local.value - s.excess_mean.value);
  }
  Estimate consensus() const { return mean(consensus_); }
  Estimate local() const { return mean(local_); }

 private:
  static Estimate mean(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double sum = 0;
    double squares = 0;
    for (const double v : values) sum += v / count;
    for (const double v : values) squares += (v - sum) * (v - sum);
    return {sum, values.size() < 2 ? 0 : std::sqrt(squares / (count * (count - 1)))};
  }
  std::vector<double> consensus_, local_;
};

/// A fleet on its way, at most `most` rounds.
class Way {
 public:
  Way(const MixingSchedule& schedule, const QuadraticFleet& fleet, std::uint64_t most)
      : schedule_(schedule), walk_(schedule, fleet, 0), most_(most) {
    for (std::uint64_t t = 0; t < schedule.period(); ++t) period_.push_back(schedule.matrix(t));
  }
  std::uint64_t rounds() const { return t_; }
  bool has(std::uint64_t rounds) const { return t_ + rounds <= most_; }

  /// The mean over the next rounds, after each; empty when it grows, or when there are no more.
  std::optional<Stationary> stretch(std::uint64_t rounds) {
    if (!has(rounds)) return std::nullopt;
    Stationary sum;
    const double share = 1 / static_cast<double>(rounds);
    for (const std::uint64_t end = t_ + rounds; t_ < end; ++t_) {
      walk_.round(period_.empty() ? schedule_.matrix(t_) : period_[t_ % period_.size()]);
      const Stationary s = walk_.now();
      sum.consensus.value += s.consensus.value * share;
      sum.excess_mean.value += s.excess_mean.value * share;
      sum.excess_local.value += s.excess_local.value * share;
    }
    if (!(sum.consensus.value < 1e30)) return std::nullopt;
    return sum;
  }

 private:
  const MixingSchedule& schedule_;
  SequenceWalk walk_;
  std::vector<MixingMatrix> period_;
  std::uint64_t most_, t_ = 0;
};

/// Period by period, until they are alike.
std::optional<Stretches> settle_periodic(Way& way, std::uint64_t period, std::uint64_t burn) {
  double before = -1;
  for (;;) {
    const std::optional<Stationary> s = way.stretch(period);
    if (!s) return std::nullopt;
    const double now = s->consensus.value;
    if (way.rounds() > burn && std::abs(now - before) <= 1e-11 * now) {
      Stretches parts;
      parts.add(*s);
      return parts;
    }
    before = now;
  }
}

/// Two stretches to forget the start, then those that count.
std::optional<Stretches> settle_random(Way& way, std::uint64_t length) {
  if (!way.has((n_stretches + 2) * length)) return std::nullopt;
  Stretches parts;
  double first = 0;
  for (std::uint64_t k = 0; k < n_stretches + 2; ++k) {
    const std::optional<Stationary> s = way.stretch(length);
    if (!s) return std::nullopt;
    if (k == 2) first = s->consensus.value;
    if (k > 2 && s->consensus.value > 1e3 * first) return std::nullopt;
    if (k >= 2) parts.add(*s);
  }
  return parts;
}

/// Multiplications in one round.
double work_of_round(const MixingSchedule& schedule, const QuadraticFleet& fleet) {
  std::vector<double> curvatures = fleet.hessian;
  std::ranges::sort(curvatures);
  const auto distinct = std::ranges::unique(curvatures).begin() - curvatures.begin();
  double links = 0;
  for (PeerId i = 0; i < schedule.size(); ++i)
    links += 1 + static_cast<double>(schedule.row(0, i).peers.size());
  const double n = schedule.size();
  return static_cast<double>(distinct) * (4 * links * n + 10 * n * n) * fleet.local_steps;
}

}  // namespace

double sequence_disagreement(const MixingSchedule& schedule, std::uint64_t rounds) {
  const PeerId n = schedule.size();
  PeerRows x(n, std::vector<double>(n));
  for (PeerId i = 0; i < n; ++i) x[i][i] = 1;
  for (std::uint64_t t = 0; t < rounds; ++t) x = mixed(schedule.matrix(t), x);
  return disagreement(x) / n;
}

std::optional<Stationary> settled_sequence(const MixingSchedule& schedule,
                                           const QuadraticFleet& fleet,
                                           double most_work) {
  const Modes mean_alone{schedule.size(), {std::vector<Mode>{}}, {}, "none"};
  const std::optional<Stationary> mean = predict(mean_alone, fleet);
  if (!mean) return std::nullopt;
  const auto most = static_cast<std::uint64_t>(most_work / work_of_round(schedule, fleet));
  const std::uint64_t burn = memory(schedule, most);
  Way way(schedule, fleet, most);
  const std::optional<Stretches> parts =
      schedule.period() > 0 ? settle_periodic(way, schedule.period(), burn)
                            : settle_random(way, std::max<std::uint64_t>(50, burn));
  if (!parts) return std::nullopt;
  Stationary s = *mean;
  s.consensus = parts->consensus();
  const Estimate local = parts->local();
  s.excess_local = {s.excess_mean.value + local.value, local.error};
  return s;
}

}  // namespace gv
