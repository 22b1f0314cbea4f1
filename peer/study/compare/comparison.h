#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/runs/groups.h"
#include "peer/study/compare/statistics.h"
#include "peer/study/compare/target.h"

namespace gv {

/// Options of `compare`.
struct CompareOptions {
  std::optional<CompareTarget> target;  ///< none: the target of the files, if all agree
  std::vector<std::string> by;          ///< keys; each combination of their values is a section
};

/// The contenders that are compared with each other: those that have the same values of `by`.
struct Section {
  std::vector<std::pair<std::string, std::string>> by;
  std::vector<Contender> contenders;  ///< best first
  std::vector<bool> pareto;           ///< whether not dominated in (seconds, bytes)
  std::vector<PairResult> pairs;      ///< all pairs, in the measure of the comparison
};

/// Everything that the reports show.
struct Comparison {
  RunTable table;
  std::vector<std::string> by;  ///< the columns selected by CompareOptions::by
  std::optional<CompareTarget> target;
  Measure measure = Measure::time;  ///< measure by which contenders are ordered
  std::size_t seeds_least = 0, seeds_most = 0;
  double resolution = 0;           ///< widest gap between two evaluations around the target, rounds
  double coarseness = 0;           ///< widest such gap as a fraction of the rounds to the target
  std::size_t at_once = 0;         ///< runs that had reached the target at their first evaluation
  std::vector<Section> sections;   ///< sections won by a centralized method first, then by `by`
  std::vector<std::string> notes;  ///< sentences that hold for all sections
};

/// Compares `runs`, which must outlive the result. Throws std::invalid_argument if they cannot be
/// compared: there are none, data or models differ, or no run reaches the target.
Comparison compare_runs(const std::vector<StoredRun>& runs, const CompareOptions& options);
Comparison compare_runs(std::vector<StoredRun>&& runs, const CompareOptions& options) = delete;

/// "network.latency 5 ms, network.bandwidth 100 Mbit"; empty for a section without `by`.
std::string name_of(const Section& section);

/// Returns for each pair of costs whether no other pair dominates it, that is, costs at most as
/// much in both and less in one. Costs that are not finite are dominated by every finite pair.
std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs);

/// Returns schema grapevine.compare/1: target, sections with their contenders (means, intervals,
/// every seed), all pairs with p values, verdicts and remarks. `left_out`: runs that could not be
/// used, with reasons.
Json comparison_json(const Comparison& comparison, const std::vector<std::string>& left_out);

/// Returns a pair as JSON, with the contenders' names.
Json pair_json(const Section& section, const PairResult& pair);

/// Returns the report for a terminal: a verdict, a table and remarks for each section, within 80
/// columns. `columns` adds a table of further measures. Ends with a newline.
std::string comparison_text(const Comparison& comparison, const std::vector<Measure>& columns);

/// Returns the report as Markdown.
std::string comparison_markdown(const Comparison& comparison, const std::vector<Measure>& columns);

/// Returns verdict and table of each section, without reasons, remarks and notes.
std::string brief_comparison_text(const Comparison& comparison);

/// Returns a header, then a line per run: its group, seed, whether it reached the target, costs.
std::string comparison_csv(const Comparison& comparison);

/// "6 seeds", "3 to 6 seeds": the number in each group.
std::string seeds_text(const Comparison& comparison);

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
