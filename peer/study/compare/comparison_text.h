#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/study/compare/comparison.h"

namespace gv {

/// The screen: a verdict, a table and remarks for each section, within 80 columns. `columns` adds a
/// table of further measures. Ends with a newline.
std::string comparison_text(const Comparison& comparison, const std::vector<Measure>& columns);

/// Writes the same as Markdown.
std::string comparison_markdown(const Comparison& comparison, const std::vector<Measure>& columns);

/// The verdict and the table of each section, without the reasons, remarks and notes.
std::string brief_comparison_text(const Comparison& comparison);

/// A line per run, with a header: its group, its seed, whether it reached the target, its costs.
std::string comparison_csv(const Comparison& comparison);

/// A value as a cell of a table shows it: "84.8 s", "1.63 MB", "0.8951".
std::string cell_text(double value, Measure measure);

/// Says in a sentence what the section answers: who is first, or that nobody can be told from whom.
std::string verdict_of(const Comparison& comparison, const Section& section);

/// The best contender that is told apart from the first one: why it takes longer is worth a word.
/// Nothing where there is none.
std::optional<std::size_t> explained(const Section& section);

/// Says what a reader should know besides: why the second takes longer, and where worst local
/// models lag behind. Sentences.
std::vector<std::string> remarks_of(const Comparison& comparison, const Section& section);

/// "1.98x (1.93 .. 2.03)" of ratios, "+1.2 pp (0.4 .. 2.0)" of accuracies.
std::string difference_text(const PairResult& pair);

/// Three digits, without an exponent up to a million: "84.8", "1317", "0.0312".
std::string digits(double value);

/// The unit in which a column of times is written, so that its numbers compare at a glance.
struct TimeUnit {
  double seconds = 1;
  std::string_view name = "s";
};
/// The unit in which this many seconds are at least 1: us, ms, s, or h from 3 hours on.
TimeUnit time_unit(double seconds);

/// "84.8 s", "12.3 ms".
std::string time_text(double seconds);

/// The text in a field of so many columns, with UTF-8's continuation bytes not counted.
std::string left(const std::string& text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);

}  // namespace gv
