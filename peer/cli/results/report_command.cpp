#include <stdexcept>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/record/runs/stored_run.h"
#include "peer/show/page/graph_page.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/show/page/report/svg_file.h"
#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"

namespace gv::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string output;  ///< "" for report.html, or FIGURE.svg
  std::string svg;
  std::string target;
  std::vector<std::string> by;
  bool json = false;
};

/// Returns the figure of this name; the error names all figures.
std::string figure_named(const std::string& name, const RunReport& report) {
  std::string names;
  for (const NamedFigure& figure : named_figures(report)) {
    if (figure.name == name) return figure_file(figure.picture);
    names += "\n  " + figure.name;
  }
  throw std::invalid_argument(fmt::format("report: no figure `{}`\nhelp:  --svg takes one of{}",
                                          printable(name, 80), names));
}

/// Refuses names of another format, because no program would open the page or figure.
void check_name(const std::string& output, bool figure) {
  for (const char* format : {".pdf", ".svg", ".png", ".jpg", ".eps"})
    if (output.ends_with(format) && !(figure && output.ends_with(".svg")))
      throw std::invalid_argument(
          fmt::format("report: {} is no {}\nhelp:  -o report.html is a page, which a browser "
                      "prints as PDF; --svg FIGURE -o figure.svg is one figure",
                      figure ? "an SVG figure" : "a page in HTML", format + 1));
}

int report(const ReportArguments& arguments) {
  CompareOptions options{.target = {}, .by = arguments.by};
  if (!arguments.target.empty()) options.target = parse_target(arguments.target);
  check_name(arguments.output, !arguments.svg.empty());
  ProgressLine progress;
  const RunList list = read_runs(arguments.runs, [&](std::size_t done, std::size_t all) {
    progress.update(fmt::format("reading runs {}/{}", done, all));
  });
  progress.clear();
  for (const std::string& reason : list.left_out) fmt::print(stderr, "left out: {}\n", reason);
  if (list.runs.empty())
    throw std::runtime_error("no run can be shown\nhelp:  grapevine simulate FILE makes one");
  const RunReport said = make_report(list.runs, options, list.tuned);
  const bool figure = !arguments.svg.empty();
  const std::string page = figure ? figure_named(arguments.svg, said) : report_page(said);
  const std::string output = !arguments.output.empty() ? arguments.output
                             : figure                  ? arguments.svg + ".svg"
                                                       : "report.html";
  write_page(output, page);
  std::vector<std::string> sentences;
  for (const Finding& finding : said.findings) sentences.push_back(finding.text);
  if (arguments.json) {
    console::print({{"schema", "grapevine.report/1"},
                    {"page", output},
                    {"bytes", page.size()},
                    {"runs", list.runs.size()},
                    {"sentences", sentences},
                    {"left_out", list.left_out}});
    return exit_code::done;
  }
  for (const std::string& sentence : sentences) console::print_wrapped(sentence, 2);
  fmt::print(stderr, "page: {} ({}, {})\n", output, bytes_text(static_cast<double>(page.size())),
             counted(list.runs.size(), "run"));
  return exit_code::done;
}

void report_options(Options& options, ReportArguments& arguments) {
  options.value("RUN", arguments.runs, "Folders of runs, or of sweeps").required();
  options
      .value("-o,--output", arguments.output, "File to write (default: report.html, or FIGURE.svg)")
      .call_values("FILE");
  options
      .value("--svg", arguments.svg,
             "Write only this figure, as a file for a paper; an unknown name lists all figures")
      .call_values("FIGURE");
  options
      .value("--by", arguments.by,
             "Key of the fleet file: one row of figures for each of its values (repeatable; "
             "default: the network, if runs differ in the network and in another key)")
      .call_values("KEY");
  options
      .value("--target", arguments.target,
             "Target of the race: accuracy=0.88, accuracy.worst=0.88, loss=0.3, loss.local=0.3, "
             "for agents return=475 or return.local=475 (default: the sweep's target or "
             "stop.target, if all runs have the same)")
      .call_values("FIGURE=VALUE");
  options.json(arguments.json);
}

}  // namespace

Command report_command() {
  return command("report", "Draw one run, or several next to each other, on a page for the browser",
                 "  grapevine report runs/fashion-ring8\n"
                 "  grapevine report runs/* --target accuracy=0.88 -o race.html\n"
                 "  grapevine report runs/* --svg the-race-accuracy-against-time\n"
                 "  grapevine report runs/networks --by network -o networks.html",
                 report_options, report);
}

}  // namespace gv::cli
