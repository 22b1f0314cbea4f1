#include <algorithm>

#include <fmt/format.h>

#include "peer/study/compare/comparison_text.h"
#include "peer/study/compare/figures.h"
#include "peer/study/compare/verdict_text.h"

// Comparisons for other programs: Markdown for a README, CSV for whatever reads tables.

namespace gv {
namespace {

/// A bar would end the cell.
std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string with_interval(const Contender& c, Measure measure) {
  if (!c.always() && !is_gain(measure) && measure != Measure::loss)
    return fmt::format("{}/{}", c.reached(), c.entries.size());
  const auto summary = summary_of(c, measure);
  if (!summary) return "-";
  std::string text = cell_text(summary->mean, measure);
  if (summary->low)
    text += fmt::format(
        " ({} .. {})", cell_text(*summary->low, measure), cell_text(*summary->high, measure));
  return text;
}

std::string markdown_table(const Comparison& c,
                           const Section& section,
                           std::vector<Measure> columns) {
  std::vector<Measure> measures = c.target
                                      ? std::vector{Measure::time, Measure::rounds, Measure::bytes}
                                      : std::vector{c.measure, Measure::time, Measure::bytes};
  std::erase_if(columns,
                [&](Measure m) { return std::ranges::find(measures, m) != measures.end(); });
  measures.insert(measures.end(), columns.begin(), columns.end());
  std::string text = "|  |";
  std::string line = "|---|";
  for (const Measure m : measures) {
    text += fmt::format(" {} |", name_of(m));
    line += "---|";
    if (m != c.measure) continue;
    text += " against first |";
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (std::size_t k = 0; k < section.contenders.size(); ++k) {
    const Contender& contender = section.contenders[k];
    text += fmt::format("| {} |", markdown_cell(contender.label));
    for (const Measure m : measures) {
      text += fmt::format(" {} |", with_interval(contender, m));
      if (m != c.measure) continue;
      text += fmt::format(" {} |", k == 0 ? "" : difference_text(find_pair(section.pairs, 0, k)));
    }
    text += "\n";
  }
  return text;
}

/// RFC 4180: what holds a comma, a quote or a line break is quoted.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string comparison_markdown(const Comparison& c, const std::vector<Measure>& columns) {
  std::string text;
  for (const Section& section : c.sections) {
    if (!text.empty()) text += "\n";
    if (const std::string name = name_of(section); !name.empty()) text += name + ": ";
    text += verdict_of(c, section) + "\n\n" + markdown_table(c, section, columns);
  }
  if (c.target) text += "\nCosts at " + to_string(*c.target) + ".\n";
  return text;
}

std::string comparison_csv(const Comparison& c) {
  std::string text;
  for (const std::string& column : c.table.columns) text += csv_cell(column) + ",";
  text += "seed,reached,rounds,seconds,bytes,accuracy,loss,run\n";
  for (const RunGroup& group : c.table.groups) {
    const Contender contender = make_contender(c.table, group, c.target, c.by);
    for (const SeedRun& run : contender.entries) {
      for (const std::string& value : group.values) text += csv_cell(value) + ",";
      text += fmt::format("{},{},", run.run->seed, run.cost ? "true" : "false");
      for (const Measure m :
           {Measure::rounds, Measure::time, Measure::bytes, Measure::accuracy, Measure::loss})
        text += csv_number(measured(run, m)) + ",";
      text += csv_cell(run.run->shown) + "\n";
    }
  }
  return text;
}

}  // namespace gv
