#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/critical_path.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

constexpr std::size_t label_width = 18;
constexpr std::size_t longest_label = 78;
constexpr std::size_t cell_width = 14;

/// Puts a label that is longer than its field on a line of its own.
std::string label_field(const std::string& mark, const std::string& label) {
  if (label.size() <= label_width) return mark + left(label, label_width);
  return fmt::format("{}{:.{}}\n{:{}}", mark, label, longest_label, "", mark.size() + label_width);
}

std::string interval_text(const std::optional<double>& low,
                          const std::optional<double>& high,
                          double unit) {
  if (!low) return "";
  return fmt::format("{} .. {}", digits(*low / unit), digits(*high / unit));
}

/// Returns "5/6" if a run missed the target, else the mean in this unit.
std::string mean_text(const Contender& c, Measure measure, double unit) {
  if (!c.always()) return fmt::format("{}/{}", c.reached(), c.entries.size());
  const auto summary = summary_of(c, measure);
  return summary ? digits(summary->mean / unit) : "-";
}

/// Returns percentage points in at most five columns.
std::string points_text(double part) {
  const double points = 100 * part;
  return fmt::format("{:.{}f}", points, std::abs(points) < 9.995 ? 2 : 0);
}

std::string against_first(const Section& section, std::size_t k) {
  if (k == 0) return std::string(21, ' ');
  const PairResult pair = find_pair(section.pairs, 0, k);
  if (!pair.center) return std::string(21, ' ');
  const double unit = pair.measure == Measure::accuracy ? 0.01 : 1;
  if (!pair.ratio && unit != 1)
    return fmt::format("{:>7}{:>14}", fmt::format("{:+.2f}", 100 * *pair.center),
                       pair.low ? points_text(*pair.low) + " .. " + points_text(*pair.high) : "");
  const std::string center = digits(*pair.center) + (pair.ratio ? "x" : "");
  return right(center, 7) + right(interval_text(pair.low, pair.high, unit), 14);
}

const char* example_target(Measure measure) {
  if (measure == Measure::accuracy) return "accuracy=0.9";
  return measure == Measure::returned ? "return=475" : "loss=0.4";
}

std::string header(const Comparison& c) {
  if (!c.target)
    return fmt::format("what the runs ended with; {}; --target {} compares costs", seeds_text(c),
                       example_target(c.measure));
  const std::string grid =
      c.resolution > 0 ? fmt::format(" (evaluated every {:.0f} rounds)", c.resolution) : "";
  const char* means = c.seeds_most >= 3 ? "geometric means, 95 % intervals" : "geometric means";
  return fmt::format("{}{}; {}; {}", to_string(*c.target), grid, seeds_text(c), means);
}

/// Returns the time unit of the slowest contender; in a smaller unit its digits would overflow the
/// column.
TimeUnit unit_of(const Section& section) {
  double longest = 0;
  for (const Contender& c : section.contenders)
    if (const auto summary = summary_of(c, Measure::time))
      longest = std::max(longest, summary->mean);
  return time_unit(longest > 0 ? longest : 1);
}

std::string mean_cell(const Contender& c, Measure measure) {
  const auto summary = summary_of(c, measure);
  return summary ? cell_text(summary->mean, measure) : "-";
}

std::string rounds_cell(const Contender& c) {
  const auto summary = summary_of(c, Measure::rounds);
  return summary ? fmt::format("{:.0f}", summary->mean) : "-";
}

std::string heading(std::string_view first, std::string_view last) {
  return fmt::format("{0:{1}}{2:>8}{0:15}{3:>21}{4:>8}{5:>8}\n", "", label_width + 2, first,
                     first == "accuracy" ? "against first, pp" : "against first", last, "sent");
}

/// Returns the table of costs at the target, or of the final models' figures.
std::string main_table(const Comparison& comparison, const Section& section) {
  const bool costs = comparison.target.has_value();
  const Measure measure = comparison.measure;
  const TimeUnit unit = costs ? unit_of(section) : TimeUnit{1, name_of(measure)};
  std::string text = heading(unit.name, costs ? "rounds" : "time");
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& c = section.contenders[k];
    const auto summary = summary_of(c, measure);
    text += label_field(costs && section.pareto[k] ? "* " : "  ", c.label);
    text += right(mean_text(c, measure, unit.seconds), 8);
    text += right(summary ? interval_text(summary->low, summary->high, unit.seconds) : "", 15);
    text += against_first(section, k);
    text += right(costs ? rounds_cell(c) : mean_cell(c, Measure::time), 8);
    text += right(mean_cell(c, Measure::bytes), 8) + "\n";
  }
  return text;
}

/// Returns the table of time per state in a round of one peer; empty if not recorded.
std::string state_table(const Section& section) {
  std::vector<ActivitySeconds> rows;
  double longest = 0;
  for (const Contender& c : section.contenders) {
    const auto states = round_states(c);
    if (!states) return "";
    double sum = 0;
    for (const double seconds : *states) sum += seconds;
    longest = std::max(longest, sum);
    rows.push_back(*states);
  }
  const TimeUnit unit = time_unit(longest);
  // Evaluations and checkpoints do not count on the clock, so they are not in this table.
  constexpr std::array shown_states{0, 1, 2, 3, 4, 7};
  std::string text = left(fmt::format("  {} of a peer's round", unit.name), label_width + 2);
  for (const int k : shown_states)
    text += right(std::string(activity_names[static_cast<std::size_t>(k)]), 9);
  text += "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += label_field("  ", section.contenders[i].label);
    for (const int k : shown_states)
      text += right(digits(rows[i][static_cast<std::size_t>(k)] / unit.seconds), 9);
    text += "\n";
  }
  return text;
}

std::string column_table(const Section& section, const std::vector<Measure>& columns) {
  if (columns.empty()) return "";
  std::string text = left("", label_width + 2);
  for (const Measure m : columns) text += right(std::string(name_of(m)), cell_width);
  text += "\n";
  for (const Contender& c : section.contenders) {
    text += label_field("  ", c.label);
    for (const Measure m : columns) text += right(mean_cell(c, m), cell_width);
    text += "\n";
  }
  return text;
}

std::string section_text(const Comparison& c,
                         const Section& section,
                         const std::vector<Measure>& columns) {
  std::string text;
  if (const std::string name = name_of(section); !name.empty()) text += wrapped(name, 2) + "\n";
  text += wrapped(verdict_of(c, section), 2) + "\n";
  text += main_table(c, section);
  if (c.target) text += state_table(section);
  text += column_table(section, columns);
  for (const std::string& remark : remarks_of(c, section)) text += wrapped("  " + remark, 4) + "\n";
  return text;
}

const char* const pareto_legend = "* not dominated in (time, bytes)\n";

bool misses(const Comparison& c) {
  return std::ranges::any_of(c.sections, [](const Section& section) {
    return !std::ranges::all_of(section.contenders, &Contender::always);
  });
}

/// Removes spaces at line ends, which empty fields at the right leave.
std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      while (!out.empty() && out.back() == ' ') out.pop_back();
    out += c;
  }
  return out;
}

/// Factor by which the worst local model must be slower than the mean model to be mentioned.
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
  return fmt::format("{} is alone here, and reaches the target with {} of {} seeds.", c.label,
                     c.reached(), c.entries.size());
}

std::string few_seeds(const Contender& first, const Contender& second, const PairResult& r) {
  if (r.seeds == 0)
    return fmt::format("{} and {} have no seed in common: runs of the same seeds are compared.",
                       first.label, second.label);
  return fmt::format(
      "{} is ahead of {}, {}, but {} too few for a verdict: an interval needs at least {} (--set "
      "seed=2, ...).",
      name_with_kind(first), second.label, difference_text(r),
      counted(r.seeds, "seed is", "seeds are"), fewest_seeds);
}

/// Says so if only the correction for all pairs makes a difference insignificant.
std::string untold(const Section& section, const PairResult& r) {
  const Contender &first = section.contenders[0], &second = section.contenders[1];
  if (r.missed > 0)
    return fmt::format(
        "no significant difference between {} and {}: one misses the target with {} of {} seeds, "
        "so there is no ratio; {} seeds that all agree would be needed.",
        first.label, second.label, r.missed, r.seeds, fewest_with_misses);
  std::string text = fmt::format(
      "no significant difference between {} and {}{}: {}", first.label, second.label,
      r.p < significance ? fmt::format(" after correction for {} pairs", section.pairs.size()) : "",
      difference_text(r));
  if (r.seeds_needed && *r.seeds_needed > r.seeds)
    text += fmt::format("; about {} seeds would be needed", *r.seeds_needed);
  return text + ".";
}

/// Returns the verdict on a first contender that is clearly better than the second.
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
    text += fmt::format("{} misses the target with {} of {} seeds", second,
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
  return fmt::format("the worst local model of {} gets there after {}x the time.", contender.label,
                     digits(ratio));
}

}  // namespace

std::string seeds_text(const Comparison& c) {
  if (c.seeds_least == c.seeds_most) return counted(c.seeds_most, "seed");
  return fmt::format("{} to {} seeds", c.seeds_least, c.seeds_most);
}

std::string cell_text(double value, Measure measure) {
  switch (measure) {
    case Measure::time:
    case Measure::cpu:
      return time_text(value);
    case Measure::bytes:
    case Measure::memory:
    case Measure::repeated:
      return bytes_text(value);
    case Measure::accuracy:
      return fmt::format("{:.4f}", value);
    default:
      return digits(value);
  }
}

std::string comparison_text(const Comparison& c, const std::vector<Measure>& columns) {
  std::string text = wrapped(header(c), 2) + "\n";
  for (const Section& section : c.sections)
    text.append("\n").append(section_text(c, section, columns));
  const bool several =
      std::ranges::any_of(c.sections, [](const Section& s) { return s.contenders.size() > 1; });
  if (c.target && several) text += pareto_legend;
  if (misses(c)) text += "2/6: two of six seeds reach the target, so there is no mean\n";
  if (!c.notes.empty() || c.at_once > 0) text += "\n";
  if (c.at_once > 0)
    text += wrapped(fmt::format("note: {} runs were at the target at their first evaluation: they "
                                "cost at most that (evaluate.every)",
                                c.at_once),
                    2) +
            "\n";
  for (const std::string& note : c.notes) text += wrapped("note: " + note, 2) + "\n";
  return without_trailing_spaces(text);
}

std::string brief_comparison_text(const Comparison& c) {
  std::string text = wrapped(header(c), 2) + "\n";
  for (const Section& section : c.sections)
    text += fmt::format("\n{}\n{}\n{}", wrapped(name_of(section), 2),
                        wrapped(verdict_of(c, section), 2), main_table(c, section));
  if (c.target) text += pareto_legend;
  return without_trailing_spaces(text);
}

std::string difference_text(const PairResult& pair) {
  if (!pair.center) return "no ratio";
  const bool points = !pair.ratio && pair.measure == Measure::accuracy;
  const auto bound = [&](double v) { return points ? fmt::format("{:.2f}", 100 * v) : digits(v); };
  std::string text = pair.ratio ? digits(*pair.center) + "x"
                     : points   ? fmt::format("{:+.2f} pp", 100 * *pair.center)
                                : fmt::format("{:+.3g}", *pair.center);
  if (pair.low) text += fmt::format(" ({} .. {})", bound(*pair.low), bound(*pair.high));
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
      return fmt::format("{} and {} are the same within {}{}: {}.", name_with_kind(first),
                         second.label, r.ratio ? "3 %" : "1 percentage point", in_which(comparison),
                         difference_text(r));
    case PairOutcome::few_seeds:
      return few_seeds(first, second, r);
    case PairOutcome::behind:  // the order is by means over all seeds, not only common ones
      return fmt::format("by the seeds that both have, {} is before {}: {}.",
                         name_with_kind(second), first.label,
                         difference_text(find_pair(section.pairs, 1, 0)));
    case PairOutcome::untold:
      break;
  }
  return untold(section, r);
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
    const Contender &first = section.contenders[0], &slower = section.contenders[*k];
    remarks.push_back(fmt::format("why: against {}, {} has {}.", first.label, slower.label,
                                  to_string(*explain(first, slower))));
    if (const auto path = critical_path_of(*slower.entries.front().run))
      remarks.push_back(fmt::format("critical path of {} in {}: {}.", slower.label,
                                    rounds_text(*path), to_string(*path)));
  }
  for (const Contender& contender : section.contenders)
    if (const std::string remark = worst_remark(contender); !remark.empty())
      remarks.push_back(remark);
  return remarks;
}

std::string digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return "-";
  if (size == 0) return "0";
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.2e}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  const int before = size < 9.995 ? static_cast<int>(std::floor(std::log10(size * 1.0005))) + 1 : 2;
  return fmt::format("{:.{}f}", value, 3 - before);
}

TimeUnit time_unit(double seconds) {
  if (seconds >= 3 * 3600) return {3600, "h"};
  if (seconds >= 1 || seconds == 0) return {1, "s"};
  if (seconds >= 1e-3) return {1e-3, "ms"};
  return {1e-6, "us"};
}

std::string time_text(double seconds) {
  const TimeUnit unit = time_unit(std::abs(seconds));
  return fmt::format("{} {}", digits(seconds / unit.seconds), unit.name);
}

std::string left(const std::string& text, std::size_t columns) {
  const std::size_t width = columns_of(text);
  return text + std::string(width < columns ? columns - width : 0, ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  const std::size_t width = columns_of(text);
  return std::string(width < columns ? columns - width : 0, ' ') + text;
}

}  // namespace gv
