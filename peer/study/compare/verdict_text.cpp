#include "peer/study/compare/verdict_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/study/compare/critical_path.h"
#include "peer/study/compare/explain.h"
#include "peer/study/compare/figures.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

/// The factor by which the worst local model must lag behind the mean model to be mentioned.
constexpr double worth_a_remark = 1.05;

std::string name_with_kind(const Contender& c) {
  return c.centralized ? c.label + " (centralized)" : c.label;
}

std::string in_which(const Comparison& c) {
  if (c.measure == Measure::time) return "";
  return fmt::format(" in final {}", name_of(c.measure));
}

std::string alone(const Contender& c) {
  if (c.always()) return fmt::format("{} is alone here: nothing to compare it with.", c.label);
  return fmt::format("{} is alone here, and reaches the target with {} of {} seeds.",
                     c.label,
                     c.reached(),
                     c.entries.size());
}

std::string few_seeds(const Contender& first, const Contender& second, const PairResult& r) {
  if (r.seeds == 0)
    return fmt::format("{} and {} have no seed in common: runs of the same seeds are compared.",
                       first.label,
                       second.label);
  return fmt::format(
      "{} is ahead of {}, {}, but {} seed{} {} too few for a verdict: an interval needs at least "
      "{} (--set seed=2, ...).",
      name_with_kind(first),
      second.label,
      difference_text(r),
      r.seeds,
      r.seeds == 1 ? "" : "s",
      r.seeds == 1 ? "is" : "are",
      fewest_seeds);
}

std::string untold(const Contender& first, const Contender& second, const PairResult& r) {
  if (r.missed > 0)
    return fmt::format(
        "no significant difference between {} and {}: one misses the target with {} of {} seeds, "
        "so there is no ratio; {} seeds that all agree would be needed.",
        first.label,
        second.label,
        r.missed,
        r.seeds,
        fewest_with_misses);
  std::string text = fmt::format("no significant difference between {} and {}: {}",
                                 first.label,
                                 second.label,
                                 difference_text(r));
  if (r.seeds_needed && *r.seeds_needed > r.seeds)
    text += fmt::format("; about {} seeds would be needed", *r.seeds_needed);
  return text + ".";
}

/// Contenders that are clearly behind the first one, from the second place on.
std::string before(const Comparison& c, const Section& section) {
  const Contender& first = section.contenders[0];
  const PairResult r = find_pair(section.pairs, 0, 1);
  std::string text = fmt::format("{} is first{}: ", name_with_kind(first), in_which(c));
  const std::string& second = section.contenders[1].label;
  if (r.center)
    text += c.measure == Measure::time
                ? fmt::format("{} takes {} as long", second, difference_text(r))
                : fmt::format("{} is at {}", second, difference_text(r));
  else
    text += fmt::format("{} misses the target with {} of {} seeds",
                        second,
                        section.contenders[1].entries.size() - section.contenders[1].reached(),
                        section.contenders[1].entries.size());
  return text + ".";
}

std::string worst_remark(const Contender& contender) {
  double sum = 0;
  for (const SeedRun& run : contender.entries) {
    if (!run.cost || !run.worst || run.cost->seconds <= 0) return "";
    sum += std::log(run.worst->seconds / run.cost->seconds);
  }
  const double ratio = std::exp(sum / static_cast<double>(contender.entries.size()));
  if (!(ratio > worth_a_remark)) return "";
  return fmt::format(
      "the worst local model of {} gets there after {}x the time.", contender.label, digits(ratio));
}

}  // namespace

std::string difference_text(const PairResult& pair) {
  if (!pair.center) return "no ratio";
  if (pair.ratio) {
    std::string text = digits(*pair.center) + "x";
    if (pair.low) text += fmt::format(" ({} .. {})", digits(*pair.low), digits(*pair.high));
    return text;
  }
  if (pair.measure == Measure::accuracy) {
    std::string text = fmt::format("{:+.2f} pp", 100 * *pair.center);
    if (pair.low) text += fmt::format(" ({:.2f} .. {:.2f})", 100 * *pair.low, 100 * *pair.high);
    return text;
  }
  std::string text = fmt::format("{:+.3g}", *pair.center);
  if (pair.low) text += fmt::format(" ({} .. {})", digits(*pair.low), digits(*pair.high));
  return text;
}

std::string verdict_of(const Comparison& comparison, const Section& section) {
  const Contender& first = section.contenders.front();
  if (section.contenders.size() == 1) return alone(first);
  const Contender& second = section.contenders[1];
  const PairResult r = find_pair(section.pairs, 0, 1);
  switch (r.outcome) {
    case PairOutcome::before:
      return before(comparison, section);
    case PairOutcome::same:
      return fmt::format("{} and {} are the same within {}{}: {}.",
                         name_with_kind(first),
                         second.label,
                         r.ratio ? "3 %" : "1 percentage point",
                         in_which(comparison),
                         difference_text(r));
    case PairOutcome::few_seeds:
      return few_seeds(first, second, r);
    case PairOutcome::behind:  // the order is by the means over all seeds
      return fmt::format("by the seeds that both have, {} is before {}: {}.",
                         name_with_kind(second),
                         first.label,
                         difference_text(find_pair(section.pairs, 1, 0)));
    case PairOutcome::untold:
      break;
  }
  return untold(first, second, r);
}

std::optional<std::size_t> explained(const Section& section) {
  for (std::size_t k = 1; k < section.contenders.size(); ++k)
    if (find_pair(section.pairs, 0, k).outcome == PairOutcome::before &&
        explain(section.contenders[0], section.contenders[k]))
      return k;
  return std::nullopt;
}

std::vector<std::string> remarks_of(const Comparison& comparison, const Section& section) {
  std::vector<std::string> remarks;
  if (!comparison.target) return remarks;
  if (const auto k = explained(section)) {
    const Contender& slower = section.contenders[*k];
    const auto why = explain(section.contenders[0], slower);
    remarks.push_back(fmt::format("why: {} has {}.", slower.label, to_string(*why)));
    if (const auto path = critical_path_of(*slower.entries.front().run))
      remarks.push_back(fmt::format(
          "critical path of {} in {}: {}.", slower.label, rounds_text(*path), to_string(*path)));
  }
  for (const Contender& contender : section.contenders)
    if (const std::string remark = worst_remark(contender); !remark.empty())
      remarks.push_back(remark);
  return remarks;
}

}  // namespace gv
