#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/record/runs/stored_run.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/expectations.h"

namespace gv::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::vector<std::string> by;
  std::string target;
  std::vector<std::string> columns;
  std::vector<std::string> expect;
  bool json = false;
  bool csv = false;
  bool markdown = false;
};

std::vector<Measure> measures_of(const std::vector<std::string>& words) {
  std::vector<Measure> measures;
  for (const std::string& all : words)
    for (std::size_t at = 0; at <= all.size();) {
      const std::size_t end = std::min(all.find(',', at), all.size());
      measures.push_back(measure_named(all.substr(at, end - at)));
      at = end + 1;
    }
  return measures;
}

void print_comparison_json(const Comparison& comparison,
                           const std::vector<std::string>& left_out,
                           const std::vector<JudgedClaim>& claims) {
  Json json = comparison_json(comparison, left_out);
  json["expectations"] = claims_json(claims);
  console::print(json);
}

/// Prints the claims; to stderr if the table is for another program.
void print_claims(const std::vector<JudgedClaim>& claims, bool aside) {
  if (!claims.empty() && !aside) fmt::print("\n");
  for (const JudgedClaim& claim : claims)
    fmt::print(aside ? stderr : stdout, "{}\n", to_string(claim));
}

int compare(const CompareArguments& arguments) {
  const std::vector<Measure> columns = measures_of(arguments.columns);
  CompareOptions options{.target = {}, .by = arguments.by};
  if (!arguments.target.empty()) options.target = parse_target(arguments.target);
  std::vector<ExpectedClaim> claims;
  for (const std::string& text : arguments.expect) claims.push_back(parse_claim(text));
  ProgressLine progress;
  const RunList list = read_runs(arguments.runs, [&](std::size_t done, std::size_t all) {
    progress.update(fmt::format("reading runs {}/{}", done, all));
  });
  progress.clear();
  for (const std::string& reason : list.left_out) fmt::print(stderr, "left out: {}\n", reason);
  if (list.runs.empty())
    throw std::runtime_error("no run can be compared\nhelp:  grapevine simulate FILE makes one");
  const Comparison comparison = compare_runs(list.runs, options);
  std::vector<JudgedClaim> judged;
  for (const ExpectedClaim& claim : claims) judged.push_back(judge_claim(comparison, claim));
  if (arguments.json)
    print_comparison_json(comparison, list.left_out, judged);
  else if (arguments.csv)
    fmt::print("{}", comparison_csv(comparison));
  else if (arguments.markdown)
    fmt::print("{}", comparison_markdown(comparison, columns));
  else
    fmt::print("{}", comparison_text(comparison, columns));
  if (!arguments.json) print_claims(judged, arguments.csv || arguments.markdown);
  const bool held = std::ranges::all_of(
      judged, [](const JudgedClaim& c) { return c.verdict == JudgedClaim::Verdict::passed; });
  return held ? exit_code::done : exit_code::check_failed;
}

void compare_options(Options& options, CompareArguments& arguments) {
  options.value("RUN", arguments.runs, "Folders of runs, or of sweeps").required();
  options
      .value("--by", arguments.by,
             "Key of the fleet file: compare separately for each of its values (repeatable)")
      .call_values("KEY");
  options
      .value("--target", arguments.target,
             "Target whose costs to compare: accuracy=0.88, accuracy.worst=0.88, loss=0.3, "
             "loss.local=0.3, for agents return=475 or return.local=475 (default: the sweep's "
             "target or stop.target, if all runs have the same)")
      .call_values("FIGURE=VALUE");
  options
      .value("--columns", arguments.columns,
             "Additional measures: time, bytes, repeated (bytes sent again), rounds, samples, cpu, "
             "memory, accuracy, loss, return (of agents)")
      .call_values("A,B,..");
  options
      .value("--expect", arguments.expect,
             "Claim that must hold (repeatable; exit 4 if one does not): \"A < B @ time by 2x\", "
             "\"A ~ B @ accuracy within 1 pp\", \"A @ time = 41 s within 20 %\", each optionally "
             "with \"where KEY=VALUE\"")
      .call_values("CLAIM");
  options.flag("--csv", arguments.csv, "Print one line per run, as CSV");
  options.flag("--md", arguments.markdown, "Print the tables as Markdown");
  options.json(arguments.json);
}

}  // namespace

Command compare_command() {
  return command("compare",
                 "Compare runs: which reached a target first, how certain that is, and why",
                 "  grapevine compare runs/ring8 runs/ring8-2 --target accuracy=0.88\n"
                 "  grapevine compare runs/* --target loss=0.3 --by network\n"
                 "  grapevine compare runs/networks --columns cpu,memory --json\n"
                 "  grapevine compare runs/* --target loss=0.3 --expect \"ring < star @ time\"",
                 compare_options, compare);
}

}  // namespace gv::cli
