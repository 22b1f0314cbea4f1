#pragma once

#include <string>
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

}  // namespace gv
