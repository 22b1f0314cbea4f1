#include "peer/study/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace gv {
namespace {

MeanInterval moments_of(std::span<const double> values) {
  MeanInterval m;
  m.n = values.size();
  m.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(m.n);
  double squares = 0;
  for (const double value : values) squares += (value - m.mean) * (value - m.mean);
  m.deviation = std::sqrt(squares / static_cast<double>(m.n - 1));
  // The deviation of equal values is only the rounding of their mean.
  const double noise = 4 * std::numeric_limits<double>::epsilon() * std::abs(m.mean);
  if (m.deviation <= noise) m.deviation = 0;
  return m;
}

double error_of(const MeanInterval& m) {
  return m.deviation / std::sqrt(static_cast<double>(m.n));
}

constexpr double tiny = 1e-300;

/// Returns I_x(a, b) for x < (a + 1) / (a + b + 2), by Lentz's method on the continued fraction.
double beta_fraction(double x, double a, double b) {
  double c = 1;
  double d = 1 / std::max(std::abs(1 - (a + b) * x / (a + 1)), tiny);
  double h = d;
  for (int m = 1; m < 100'000; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      c = 1 + term / c;
      if (std::abs(d) < tiny) d = tiny;
      if (std::abs(c) < tiny) c = tiny;
      d = 1 / d;
      h *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-16) break;
  }
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) -
                                std::lgamma(a) - std::lgamma(b));
  return front * h / a;
}

/// P(T >= t) for t >= 0, with full relative accuracy: I_x(n/2, 1/2) / 2, x = n / (n + t^2).
double upper_tail(double t, double n) {
  if (t == 0) return 0.5;
  const double x = n / (n + t * t);
  const double y = t * t / (n + t * t);
  const double a = n / 2;
  const double b = 0.5;
  if (x < (a + 1) / (a + b + 2)) return beta_fraction(x, a, b) / 2;
  return (1 - beta_fraction(y, b, a)) / 2;
}

double density(double t, double n) {
  const double front = std::lgamma((n + 1) / 2) - std::lgamma(n / 2);
  return std::exp(front - (n + 1) / 2 * std::log1p(t * t / n)) / std::sqrt(n * std::acos(-1.0));
}

/// Returns t >= 0 with P(T >= t) = q, q <= 1/2, by Newton's method on log q, which is nearly linear
/// in log t in the tail, safeguarded by a bracket around the root.
double upper_quantile(double q, double n) {
  double low = 0;
  double high = 1;
  while (upper_tail(high, n) > q) {
    low = high;
    high *= 2;
  }
  double t = (low + high) / 2;
  for (int step = 0; step < 200; ++step) {
    const double tail = upper_tail(t, n);
    (tail > q ? low : high) = t;
    double next = t + (std::log(tail) - std::log(q)) * tail / density(t, n);
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - t) <= 1e-15 * next) return next;
    t = next;
  }
  return t;
}

struct SeedPair {
  std::optional<double> a, b;
  bool recorded = true;  ///< false: a value is missing for another reason than a missed target
};

/// Returns false if a value is missing for another reason than a missed target or an infinite loss,
/// which are worse than any value.
bool recorded(const SeedRun& run, Measure measure) {
  if (measured(run, measure) || measure == Measure::loss || measure == Measure::returned)
    return true;
  const bool cost = measure == Measure::time || measure == Measure::bytes ||
                    measure == Measure::rounds || measure == Measure::samples;
  return cost && !run.cost;
}

std::vector<SeedPair> common_seeds(const Contender& a, const Contender& b, Measure measure) {
  std::vector<SeedPair> pairs;
  for (const SeedRun& mine : a.entries)
    for (const SeedRun& theirs : b.entries)
      if (mine.run->seed == theirs.run->seed)
        pairs.push_back({measured(mine, measure), measured(theirs, measure),
                         recorded(mine, measure) && recorded(theirs, measure)});
  return pairs;
}

/// Returns which contender was better in every pair; a missed target is worse than any cost.
PairOutcome always_before(const std::vector<SeedPair>& pairs, Measure measure) {
  if (pairs.size() < fewest_with_misses) return PairOutcome::untold;
  const auto better = [&](const std::optional<double>& x, const std::optional<double>& y) {
    if (!x || !y) return x.has_value() && !y.has_value();
    return is_gain(measure) ? *x > *y : *x < *y;
  };
  if (std::ranges::all_of(pairs, [&](const SeedPair& p) { return better(p.a, p.b); }))
    return PairOutcome::before;
  if (std::ranges::all_of(pairs, [&](const SeedPair& p) { return better(p.b, p.a); }))
    return PairOutcome::behind;
  return PairOutcome::untold;
}

PairResult turned(PairResult r) {
  std::swap(r.a, r.b);
  for (double& d : r.differences) d = -d;
  const auto turn = [&](double value) { return r.ratio ? 1 / value : -value; };
  if (r.center) r.center = turn(*r.center);
  if (r.low) {
    const double low = turn(*r.high);
    r.high = turn(*r.low);
    r.low = low;
  }
  if (r.outcome == PairOutcome::before)
    r.outcome = PairOutcome::behind;
  else if (r.outcome == PairOutcome::behind)
    r.outcome = PairOutcome::before;
  return r;
}

/// Judges by p_holm and the margin if every pair has both values.
void judge(PairResult& r) {
  if (r.missed > 0) return;
  if (r.seeds < fewest_seeds) {
    r.outcome = PairOutcome::few_seeds;
    return;
  }
  const double margin = r.ratio ? std::log1p(usual_ratio_margin) : usual_accuracy_margin;
  const bool scaled = r.ratio || r.measure == Measure::accuracy;
  if (scaled && equivalent(r.differences, margin)) {
    r.outcome = PairOutcome::same;
  } else if (r.p_holm < significance) {
    const bool more = *r.center > (r.ratio ? 1 : 0);
    r.outcome = more == is_gain(r.measure) ? PairOutcome::behind : PairOutcome::before;
  } else {
    r.outcome = PairOutcome::untold;
  }
}

}  // namespace

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<MeanInterval> mean_interval(std::span<const double> values, double covers) {
  if (values.size() < fewest_seeds) return std::nullopt;
  MeanInterval m = moments_of(values);
  const double t = student_t_quantile((1 + covers) / 2, static_cast<double>(m.n - 1));
  m.low = m.mean - t * error_of(m);
  m.high = m.mean + t * error_of(m);
  return m;
}

double mean_is_zero(std::span<const double> values) {
  if (values.size() < fewest_seeds) return 1;
  const MeanInterval m = moments_of(values);
  if (m.deviation == 0) return m.mean == 0 ? 1 : 0;
  return student_t_two_sided(m.mean / error_of(m), static_cast<double>(m.n - 1));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return p_values[k]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double times = static_cast<double>(order.size() - k);
    largest = std::max(largest, std::min(1.0, times * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

bool equivalent(std::span<const double> values, double margin) {
  const auto interval = mean_interval(values, 0.9);
  return interval && interval->low > -margin && interval->high < margin;
}

std::optional<double> sign_flip(std::span<const double> values) {
  constexpr std::size_t most = 20;
  if (values.empty() || values.size() > most) return std::nullopt;
  double all = 0;
  double size = 0;
  for (const double value : values) {
    all += value;
    size += std::abs(value);
  }
  // Sums of the same numbers in different order differ in their last bits.
  const double far = std::abs(all) - 1e-12 * size;
  std::size_t count = 0;
  const std::size_t choices = std::size_t{1} << values.size();
  for (std::size_t signs = 0; signs < choices; ++signs) {
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k)
      sum += (signs >> k & 1U) != 0 ? -values[k] : values[k];
    if (std::abs(sum) >= far) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(choices);
}

std::optional<std::size_t> values_needed(const MeanInterval& seen, std::size_t most) {
  if (seen.mean == 0) return std::nullopt;
  const auto tells = [&](std::size_t n) {
    const auto freedom = static_cast<double>(n - 1);
    const double needed = student_t_quantile(0.975, freedom) + student_t_quantile(0.8, freedom);
    return std::abs(seen.mean) >= needed * seen.deviation / std::sqrt(static_cast<double>(n));
  };
  if (!tells(most)) return std::nullopt;
  // If n values suffice, more values do too.
  std::size_t low = fewest_seeds;
  std::size_t high = most;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    tells(middle) ? high = middle : low = middle + 1;
  }
  return low;
}

double student_t_below(double t, double freedom) {
  return t < 0 ? upper_tail(-t, freedom) : 1 - upper_tail(t, freedom);
}

double student_t_two_sided(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return 2 * upper_tail(std::abs(t), freedom);
}

double student_t_quantile(double p, double freedom) {
  if (p == 0.5) return 0;
  return p > 0.5 ? upper_quantile(1 - p, freedom) : -upper_quantile(p, freedom);
}

PairResult compare_pair(const std::vector<Contender>& section,
                        std::size_t a,
                        std::size_t b,
                        Measure measure) {
  const std::vector<SeedPair> pairs = common_seeds(section[a], section[b], measure);
  PairResult r;
  r.a = a;
  r.b = b;
  r.measure = measure;
  r.seeds = pairs.size();
  r.missed = static_cast<std::size_t>(
      std::ranges::count_if(pairs, [](const SeedPair& p) { return !p.a || !p.b; }));
  if (r.missed > 0) {
    const bool known = std::ranges::all_of(pairs, &SeedPair::recorded);
    r.outcome = known ? always_before(pairs, measure) : PairOutcome::untold;
    return r;
  }
  r.ratio = !is_gain(measure) &&
            std::ranges::all_of(pairs, [](const SeedPair& p) { return *p.a > 0 && *p.b > 0; });
  for (const SeedPair& p : pairs)
    r.differences.push_back(r.ratio ? std::log(*p.b / *p.a) : *p.b - *p.a);
  if (pairs.empty()) return r;
  double sum = 0;
  for (const double d : r.differences) sum += d;
  const auto back = [&](double value) { return r.ratio ? std::exp(value) : value; };
  r.center = back(sum / static_cast<double>(pairs.size()));
  if (const auto interval = mean_interval(r.differences)) {
    r.low = back(interval->low);
    r.high = back(interval->high);
    r.seeds_needed = values_needed(*interval);
  }
  r.p = r.p_holm = mean_is_zero(r.differences);
  r.p_sign_flip = sign_flip(r.differences);
  judge(r);
  return r;
}

std::vector<PairResult> compare_all(const std::vector<Contender>& section, Measure measure) {
  std::vector<PairResult> all;
  for (std::size_t a = 0; a < section.size(); ++a)
    for (std::size_t b = a + 1; b < section.size(); ++b)
      all.push_back(compare_pair(section, a, b, measure));
  std::vector<double> p;
  for (const PairResult& r : all)
    if (r.missed == 0 && r.seeds >= fewest_seeds) p.push_back(r.p);
  const std::vector<double> corrected = holm(p);
  std::size_t next = 0;
  for (PairResult& r : all) {
    if (r.missed > 0 || r.seeds < fewest_seeds) continue;
    r.p_holm = corrected[next++];
    judge(r);
  }
  return all;
}

PairResult find_pair(const std::vector<PairResult>& pairs, std::size_t a, std::size_t b) {
  for (const PairResult& r : pairs) {
    if (r.a == a && r.b == b) return r;
    if (r.a == b && r.b == a) return turned(r);
  }
  throw std::logic_error("a pair of contenders was not compared");
}

}  // namespace gv
