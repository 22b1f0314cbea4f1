#include "peer/show/page/report_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/show/page/page_frame.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

std::string list(const char* css, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = fmt::format("<ul class=\"{}\">\n", css);
  for (const std::string& item : items) out += "<li>" + svg::escape(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string sentences(const RunReport& report) {
  if (report.findings.empty()) return "";
  std::string out = "<ul class=\"sentences\">\n";
  for (const Finding& finding : report.findings) {
    out += "<li>" + svg::escape(finding.text);
    for (const std::string& remark : finding.remarks)
      out += "<small>" + svg::escape(remark) + "</small>";
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

std::string tiles(const RunReport& report) {
  if (report.tiles.empty()) return "";
  std::string out = "<ul class=\"tiles\">\n";
  for (const auto& [value, words] : report.tiles)
    out +=
        fmt::format("<li><b>{}</b><span>{}</span></li>\n", svg::escape(value), svg::escape(words));
  return out + "</ul>\n";
}

std::string legend(const RunReport& report) {
  if (report.legend.empty()) return "";
  std::string out = "<ul class=\"legend\">\n";
  for (const auto& [series, name] : report.legend)
    out += fmt::format("<li><svg viewBox=\"0 0 34 10\">{}</svg>{}</li>\n",
                       svg::line({0, 5}, {34, 5}, "curve " + svg::series(series)),
                       svg::escape(name));
  return out + "</ul>\n";
}

std::string panels(const std::vector<Figure>& figures) {
  std::string out;
  for (const Figure& figure : figures)
    if (!figure.picture.empty()) out += figure_html(figure);
  return out.empty() ? "" : "<div class=\"panels\">\n" + out + "</div>\n";
}

std::string row_html(const ReportRow& row) {
  std::string out = panels(row.figures);
  if (const std::string folded = panels(row.folded); !folded.empty())
    out += "<details class=\"more\"><summary>more of this</summary>\n" + folded + "</details>\n";
  if (out.empty() || row.name.empty()) return out;
  return "<h3>" + svg::escape(row.name) + "</h3>\n" + out;
}

std::string section(const ReportSection& s) {
  std::string inside;
  for (const ReportRow& row : s.rows) inside += row_html(row);
  if (inside.empty()) return "";
  std::string out = "<h2>" + svg::escape(s.title) + "</h2>\n";
  if (!s.note.empty()) out += "<p class=\"note\">" + svg::escape(s.note) + "</p>\n";
  return out + inside;
}

constexpr std::array<std::pair<const char*, const char*>, 7> words{{
    {"mean model",
     "the mean of all peers' models; accuracy and loss are those of the mean model unless stated "
     "otherwise"},
    {"consensus distance", "mean squared distance of a peer's model to the mean model"},
    {"late", "a peer waits for a message that its neighbour has not sent yet"},
    {"wire", "a peer waits for a message in flight: queue, bandwidth, latency"},
    {"hidden wire", "a message in flight while its receiver computed: costs no time"},
    {"time", "the fleet's clock, without evaluations and checkpoints if those were recorded"},
    {"band",
     "the 95 % interval of the mean over seeds, or the range of two seeds; for one run, its worst "
     "and best local models"},
}};

std::string glossary() {
  std::string out = "<dl>\n";
  for (const auto& [word, meaning] : words)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word, meaning);
  return out + "</dl>\n";
}

}  // namespace

std::string report_page(const RunReport& report) {
  std::string out = "<h1>" + svg::escape(report.title) + "</h1>\n";
  if (!report.lead.empty()) out += "<p class=\"lead\">" + svg::escape(report.lead) + "</p>\n";
  out += sentences(report) + tiles(report) + legend(report);
  for (const ReportSection& s : report.sections) out += section(s);
  if (!report.missing.empty())
    out += fmt::format(
        "<p class=\"note missing\">Not shown, because these runs have no records of it: {}.</p>\n",
        svg::escape(fmt::format("{}", fmt::join(report.missing, "; "))));
  if (const std::string diff = fleet_diff(report.keys); !diff.empty())
    out += fmt::format(
        "<h2>{}</h2>\n{}", report.keys.size() > 1 ? "Differences" : "The fleet file", diff);
  out += "<h2>How it was made</h2>\n";
  if (!report.runs.rows.empty()) out += table_html(report.runs);
  out += list("notes", report.notes) + glossary();
  return page_around(report.title, out);
}

}  // namespace gv
