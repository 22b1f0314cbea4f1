#include "graph/predict/sequence.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

/// Returns the rounds after which hardly any disagreement is left; at most `most`.
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

/// A fleet followed for at most `most` rounds.
class Way {
 public:
  Way(const MixingSchedule& schedule, const QuadraticFleet& fleet, std::uint64_t most)
      : schedule_(schedule), walk_(schedule, fleet, 0), most_(most) {
    for (std::uint64_t t = 0; t < schedule.period(); ++t) period_.push_back(schedule.matrix(t));
  }
  std::uint64_t rounds() const { return t_; }
  bool has(std::uint64_t rounds) const { return t_ + rounds <= most_; }

  /// Returns the mean over the next rounds, after each; none if it grows, or if no rounds are left.
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

/// Follows period by period, until they are alike.
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

using Rows = PeerRows;

Rows zeros(std::size_t rows, std::size_t columns) {
  return Rows(rows, std::vector<double>(columns));
}

/// to += factor * from.
void add(Rows& to, double factor, const Rows& from) {
  for (std::size_t i = 0; i < to.size(); ++i)
    for (std::size_t k = 0; k < to[i].size(); ++k) to[i][k] += factor * from[i][k];
}

void scale(Rows& rows, double factor) {
  for (std::vector<double>& row : rows)
    for (double& value : row) value *= factor;
}

/// Replaces entries that rounding has made unequal by their mean. An antisymmetric part is no
/// covariance, and turn and move would let it grow by 1 + (gamma h)^2 per step.
void make_symmetric(Rows& square) {
  for (std::size_t i = 0; i < square.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      square[i][k] = square[k][i] = (square[i][k] + square[k][i]) / 2;
}

Rows transposed(const Rows& square) {
  Rows result = square;
  for (std::size_t i = 0; i < square.size(); ++i)
    for (std::size_t k = 0; k < square.size(); ++k) result[k][i] = square[i][k];
  return result;
}

double mean_of_column(const Rows& rows, std::size_t k) {
  double sum = 0;
  for (const std::vector<double>& row : rows) sum += row[k];
  return sum / static_cast<double>(rows.size());
}

struct Powers {
  double consensus = 0, mean = 0;  ///< around the mean; of the mean around the minimum
};

/// Returns the powers of a path without noise.
Powers of_path(const Rows& x, const Rows& centers, std::size_t k) {
  const double mean = mean_of_column(x, k);
  const double optimum = mean_of_column(centers, k);
  Powers p{0, (mean - optimum) * (mean - optimum)};
  for (const std::vector<double>& row : x)
    p.consensus += (row[k] - mean) * (row[k] - mean) / static_cast<double>(x.size());
  return p;
}

Powers of_covariance(const Rows& xx) {
  const auto n = static_cast<double>(xx.size());
  double trace = 0;
  double total = 0;
  for (std::size_t i = 0; i < xx.size(); ++i) {
    trace += xx[i][i];
    for (const double value : xx[i]) total += value;
  }
  return {trace / n - total / (n * n), total / (n * n)};
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

PeerRows mixed(const MixingMatrix& w, const PeerRows& rows) {
  PeerRows result = rows;
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood row = w.row(i);
    for (double& value : result[i]) value *= row.self;
    for (std::size_t j = 0; j < row.peers.size(); ++j) {
      const std::vector<double>& other = rows[row.peers[j]];
      for (std::size_t k = 0; k < other.size(); ++k) result[i][k] += row.weights[j] * other[k];
    }
  }
  return result;
}

bool can_walk(const QuadraticFleet& f) {
  const bool order = f.order == "lian" || f.order == "atc" || f.order == "cta";
  return order && f.staleness == 0 && !f.nesterov;
}

SequenceWalk::Axis& SequenceWalk::axis_of(double h) {
  const auto known = std::ranges::find(axes_, h, &Axis::h);
  if (known != axes_.end()) return *known;
  axes_.emplace_back().h = h;
  return axes_.back();
}

void SequenceWalk::begin(PeerId n) {
  for (Axis& axis : axes_) {
    axis.u = zeros(n, axis.weight.size());
    axis.xx = axis.xu = axis.uu = zeros(n, n);
  }
}

SequenceWalk::SequenceWalk(const MixingSchedule& schedule,
                           const QuadraticFleet& fleet,
                           double start)
    : fleet_(fleet) {
  if (!can_walk(fleet))
    throw std::invalid_argument("predict: rounds cannot be computed one by one for order " +
                                fleet.order);
  const PeerId n = schedule.size();
  for (const double h : fleet.hessian) axis_of(h).copies += 1;
  for (Axis& axis : axes_) {
    // A unit of each peer's centre, and the start: their effects add up.
    const std::size_t drawn = fleet.spread > 0 ? n : 0;
    axis.weight.assign(drawn, axis.copies * fleet.spread);
    if (start != 0) axis.weight.push_back(axis.copies * start * start);
    axis.centers = axis.x = zeros(n, axis.weight.size());
    for (std::size_t i = 0; i < drawn; ++i) axis.centers[i][i] = 1;
    for (PeerId i = 0; start != 0 && i < n; ++i) axis.x[i][drawn] = 1;
  }
  begin(n);
}

SequenceWalk::SequenceWalk(const MixingSchedule& schedule,
                           const QuadraticFleet& fleet,
                           const Rows& centers,
                           double start)
    : fleet_(fleet) {
  if (!can_walk(fleet))
    throw std::invalid_argument("predict: rounds cannot be computed one by one for order " +
                                fleet.order);
  const PeerId n = schedule.size();
  const auto fits = [&](const auto& row) { return row.size() == fleet.hessian.size(); };
  if (centers.size() != n || !std::ranges::all_of(centers, fits))
    throw std::invalid_argument("predict: one row per peer, one number per entry of the hessian");
  for (std::size_t k = 0; k < fleet.hessian.size(); ++k) {
    Axis& axis = axis_of(fleet.hessian[k]);
    axis.copies += 1;
    axis.weight.push_back(1);
    axis.centers.resize(n);
    axis.x.resize(n);
    for (PeerId i = 0; i < n; ++i) {
      axis.centers[i].push_back(centers[i][k]);
      axis.x[i].push_back(start);
    }
  }
  begin(n);
}

/// u <- momentum u + h (x - b) + xi.
void SequenceWalk::turn(Axis& a) {
  const double beta = fleet_.momentum;
  // Covariances of h x + beta u with itself and with x.
  scale(a.uu, beta * beta);
  if (beta > 0) {
    add(a.uu, beta * a.h, a.xu);
    add(a.uu, beta * a.h, transposed(a.xu));
    make_symmetric(a.uu);
  }
  add(a.uu, a.h * a.h, a.xx);
  for (std::size_t i = 0; i < a.uu.size(); ++i) a.uu[i][i] += fleet_.noise;
  scale(a.xu, beta);
  add(a.xu, a.h, a.xx);
  scale(a.u, beta);
  add(a.u, a.h, a.x);
  add(a.u, -a.h, a.centers);
}

/// x <- x - gamma u.
void SequenceWalk::move(Axis& a) {
  const double gamma = fleet_.rate;
  Rows both = a.xu;
  add(both, 1, transposed(a.xu));
  add(a.xx, -gamma, both);
  add(a.xx, gamma * gamma, a.uu);
  add(a.xu, -gamma, a.uu);
  add(a.x, -gamma, a.u);
}

/// x <- W x.
void SequenceWalk::mix(Axis& a, const MixingMatrix& w) {
  a.xx = mixed(w, transposed(mixed(w, a.xx)));
  make_symmetric(a.xx);
  a.xu = mixed(w, a.xu);
  a.x = mixed(w, a.x);
}

void SequenceWalk::follow(Axis& axis, const MixingMatrix& w) {
  for (unsigned step = 1; step < fleet_.local_steps; ++step) {
    turn(axis);
    move(axis);
  }
  if (fleet_.order == "cta") mix(axis, w);
  turn(axis);
  if (fleet_.order == "lian") mix(axis, w);
  move(axis);
  if (fleet_.order == "atc") mix(axis, w);
}

void SequenceWalk::round(const MixingMatrix& w) {
  for (Axis& axis : axes_) follow(axis, w);
}

Stationary SequenceWalk::now() const {
  Stationary s;
  for (const Axis& axis : axes_) {
    Powers sum = of_covariance(axis.xx);
    sum.consensus *= axis.copies;
    sum.mean *= axis.copies;
    for (std::size_t k = 0; k < axis.weight.size(); ++k) {
      const Powers p = of_path(axis.x, axis.centers, k);
      sum.consensus += axis.weight[k] * p.consensus;
      sum.mean += axis.weight[k] * p.mean;
    }
    s.consensus.value += sum.consensus;
    s.excess_mean.value += axis.h / 2 * sum.mean;
    s.excess_local.value += axis.h / 2 * (sum.mean + sum.consensus);
  }
  return s;
}

}  // namespace gv
