#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/study/compare/comparison.h"

namespace gv {

/// Returns the report for a terminal: a verdict, a table and remarks for each section, within 80
/// columns. `columns` adds a table of further measures. Ends with a newline.
std::string comparison_text(const Comparison& comparison, const std::vector<Measure>& columns);

/// Returns the report as Markdown.
std::string comparison_markdown(const Comparison& comparison, const std::vector<Measure>& columns);

/// Returns verdict and table of each section, without reasons, remarks and notes.
std::string brief_comparison_text(const Comparison& comparison);

/// Returns a header, then a line per run: its group, seed, whether it reached the target, costs.
std::string comparison_csv(const Comparison& comparison);

/// Formats a value for a table cell: "84.8 s", "1.63 MB", "0.8951".
std::string cell_text(double value, Measure measure);

/// Returns a sentence that names the first contender, or reports that there is no clear first.
std::string verdict_of(const Comparison& comparison, const Section& section);

/// Returns the best contender that is significantly slower than the first and whose delay can be
/// explained, or nothing if there is none.
std::optional<std::size_t> explained(const Section& section);

/// Returns further sentences for the reader: why the slower contender takes longer, and which worst
/// local models are late.
std::vector<std::string> remarks_of(const Comparison& comparison, const Section& section);

/// "1.98x (1.93 .. 2.03)" for ratios, "+1.2 pp (0.4 .. 2.0)" for accuracies.
std::string difference_text(const PairResult& pair);

/// Formats three digits, without an exponent below a million: "84.8", "1317", "0.0312".
std::string digits(double value);

/// The unit of a column of times, the same for all rows so that they are easy to compare.
struct TimeUnit {
  double seconds = 1;
  std::string_view name = "s";
};
/// Returns the unit in which `seconds` is at least 1: us, ms, s, or h from 3 hours on.
TimeUnit time_unit(double seconds);

/// "84.8 s", "12.3 ms".
std::string time_text(double seconds);

/// Pads the text to this number of columns; UTF-8 continuation bytes do not count.
std::string left(const std::string& text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);

}  // namespace gv
