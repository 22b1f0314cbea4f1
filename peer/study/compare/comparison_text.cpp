#include "peer/study/compare/comparison_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"
#include "peer/study/compare/figures.h"
#include "peer/study/compare/verdict_text.h"

namespace gv {
namespace {

constexpr std::size_t label_width = 18;
constexpr std::size_t longest_label = 78;
constexpr std::size_t cell_width = 14;

std::string seeds_text(const Comparison& c) {
  if (c.seeds_least != c.seeds_most)
    return fmt::format("{} to {} seeds", c.seeds_least, c.seeds_most);
  return fmt::format("{} seed{}", c.seeds_most, c.seeds_most == 1 ? "" : "s");
}

/// A label longer than its field has a line of its own.
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

/// "5/6" where a run missed the target, else the mean in this unit.
std::string mean_text(const Contender& c, Measure measure, double unit) {
  if (!c.always()) return fmt::format("{}/{}", c.reached(), c.entries.size());
  const auto summary = summary_of(c, measure);
  return summary ? digits(summary->mean / unit) : "-";
}

/// Percentage points, in at most five columns.
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
    return fmt::format("{:>7}{:>14}",
                       fmt::format("{:+.2f}", 100 * *pair.center),
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
    return fmt::format("what the runs ended with; {}; --target {} compares costs",
                       seeds_text(c),
                       example_target(c.measure));
  const std::string grid =
      c.resolution > 0 ? fmt::format(" (evaluated every {:.0f} rounds)", c.resolution) : "";
  const char* means = c.seeds_most >= 3 ? "geometric means, 95 % intervals" : "geometric means";
  return fmt::format("{}{}; {}; {}", to_string(*c.target), grid, seeds_text(c), means);
}

/// Returns the time unit of the slowest contender: in a smaller unit its digits overflow the
/// column.
TimeUnit unit_of(const Section& section) {
  double longest = 0;
  for (const Contender& c : section.contenders)
    if (const auto summary = summary_of(c, Measure::time))
      longest = std::max(longest, summary->mean);
  return time_unit(longest > 0 ? longest : 1);
}

std::string bytes_cell(const Contender& c) {
  const auto summary = summary_of(c, Measure::bytes);
  return summary ? bytes_text(summary->mean) : "-";
}

std::string rounds_cell(const Contender& c) {
  const auto summary = summary_of(c, Measure::rounds);
  return summary ? fmt::format("{:.0f}", summary->mean) : "-";
}

std::string heading(std::string_view first, std::string_view last) {
  return fmt::format("{0:{1}}{2:>8}{0:15}{3:>21}{4:>8}{5:>8}\n",
                     "",
                     label_width + 2,
                     first,
                     first == "accuracy" ? "against first, pp" : "against first",
                     last,
                     "sent");
}

/// Costs at the target.
std::string cost_table(const Section& section) {
  const TimeUnit unit = unit_of(section);
  std::string text = heading(unit.name, "rounds");
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& c = section.contenders[k];
    const auto time = summary_of(c, Measure::time);
    text += label_field(section.pareto[k] ? "* " : "  ", c.label);
    text += right(mean_text(c, Measure::time, unit.seconds), 8);
    text += right(time ? interval_text(time->low, time->high, unit.seconds) : "", 15);
    text += against_first(section, k);
    text += right(rounds_cell(c), 8);
    text += right(bytes_cell(c), 8) + "\n";
  }
  return text;
}

/// Writes what the models were at the end.
std::string final_table(const Comparison& comparison, const Section& section) {
  const Measure measure = comparison.measure;
  std::string text = heading(name_of(measure), "time");
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& c = section.contenders[k];
    const auto summary = summary_of(c, measure);
    const auto time = summary_of(c, Measure::time);
    text += label_field("  ", c.label);
    text += right(summary ? digits(summary->mean) : "-", 8);
    text += right(summary ? interval_text(summary->low, summary->high, 1) : "", 15);
    text += against_first(section, k);
    text += right(time ? time_text(time->mean) : "-", 8) + right(bytes_cell(c), 8) + "\n";
  }
  return text;
}

/// Shows where a round of one peer goes, where that was recorded.
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
  // Evaluations and checkpoints are no part of the clock, and so not of this table.
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
    for (const Measure m : columns) {
      const auto summary = summary_of(c, m);
      text += right(summary ? cell_text(summary->mean, m) : "-", cell_width);
    }
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
  text += c.target ? cost_table(section) : final_table(c, section);
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

/// Spaces at line ends come from fields at the right that are empty.
std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      while (!out.empty() && out.back() == ' ') out.pop_back();
    out += c;
  }
  return out;
}

}  // namespace

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
    case Measure::energy:
      return value < 10'000 ? digits(value) + " J" : digits(value / 1000) + " kJ";
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
    text += fmt::format("\n{}\n{}\n{}",
                        wrapped(name_of(section), 2),
                        wrapped(verdict_of(c, section), 2),
                        c.target ? cost_table(section) : final_table(c, section));
  if (c.target) text += pareto_legend;
  return without_trailing_spaces(text);
}

}  // namespace gv
