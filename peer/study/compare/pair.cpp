#include "peer/study/compare/pair.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

constexpr double level = 0.05;

struct SeedPair {
  std::optional<double> a, b;
  bool recorded = true;  ///< false: a value is missing that no target explains
};

/// A run that missed the target, or whose loss is not finite, is worse than any that has a value.
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
        pairs.push_back({measured(mine, measure),
                         measured(theirs, measure),
                         recorded(mine, measure) && recorded(theirs, measure)});
  return pairs;
}

/// Says who was better in every pair, a miss being worse than any cost.
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

/// Judges by p_holm and the margin, where every pair has both values.
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
  } else if (r.p_holm < level) {
    const bool more = *r.center > (r.ratio ? 1 : 0);
    r.outcome = more == is_gain(r.measure) ? PairOutcome::behind : PairOutcome::before;
  } else {
    r.outcome = PairOutcome::untold;
  }
}

}  // namespace

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
