#include "peer/show/page/report_page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/mapped.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr const char* unset = "-";

const std::string& value_of(const FleetKeys& group, const std::string& key) {
  static const std::string none = unset;
  const auto at = group.keys.find(key);
  return at == group.keys.end() ? none : at->second;
}

std::string differing_rows(const std::vector<FleetKeys>& groups,
                           const std::vector<std::string>& keys) {
  std::string out = "<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>key</th>";
  for (const FleetKeys& g : groups)
    out += "<th>" + key_html(svg::series(g.series)) + svg::escape(g.name) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const std::string& key : keys) {
    out += "<tr><td>" + svg::escape(key) + "</td>";
    for (const FleetKeys& g : groups) out += "<td>" + svg::escape(value_of(g, key)) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string sentence(const Finding& finding) {
  std::string out = svg::escape(finding.text);
  for (const std::string& remark : finding.remarks)
    out += "<small>" + svg::escape(remark) + "</small>";
  return out;
}

/// Returns what stands above the sections: sentences, tiles and the legend.
std::string head(const RunReport& report) {
  const auto tile = [](const auto& t) {
    return fmt::format("<b>{}</b><span>{}</span>", svg::escape(t.first), svg::escape(t.second));
  };
  const auto entry = [](const auto& e) { return line_key_html(e.first) + svg::escape(e.second); };
  return list_html("sentences", mapped(report.findings, sentence)) +
         list_html("tiles", mapped(report.tiles, tile)) +
         list_html("legend", mapped(report.legend, entry));
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

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words{{
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

/// Appends the letters and digits, with one hyphen for all other characters in between.
void add_words(const std::string& title, std::string& name) {
  bool gap = !name.empty();
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      gap = !name.empty();
      continue;
    }
    if (gap) name += '-';
    gap = false;
    name += static_cast<char>(std::tolower(byte));
  }
}

/// Returns the images of a picture: one, or several next to each other, without those of a legend.
std::vector<std::string> images_of(const std::string& picture) {
  constexpr std::string_view open = "<svg ", close = "</svg>";
  std::vector<std::string> images;
  for (std::size_t at = 0; (at = picture.find(open, at)) != std::string::npos;) {
    const std::size_t end = picture.find(close, at);
    if (end == std::string::npos) break;
    const std::string image = picture.substr(at, end + close.size() - at);
    if (image.find("class=\"swatch\"") == std::string::npos) images.push_back(image);
    at = end;
  }
  return images;
}

}  // namespace

std::string table_html(const DataTable& table) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& head : table.heads) out += "<th>" + svg::escape(head) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + svg::escape(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string figure_html(const Figure& f) {
  std::string out = fmt::format("<figure class=\"{}\"><figcaption>{}",
                                f.wide ? "panel wide" : "panel", svg::escape(f.title));
  if (!f.note.empty()) out += "<small>" + svg::escape(f.note) + "</small>";
  out += "</figcaption>\n<div class=\"picture\">" + f.picture + "</div>\n";
  if (!f.numbers.rows.empty())
    out += "<details><summary>numbers</summary>\n" + table_html(f.numbers) + "</details>\n";
  return out + "</figure>\n";
}

std::string fleet_diff(const std::vector<FleetKeys>& groups) {
  if (groups.empty()) return "";
  std::set<std::string> all;
  for (const FleetKeys& g : groups)
    for (const auto& [key, value] : g.keys) all.insert(key);
  std::vector<std::string> differing;
  std::string common;
  for (const std::string& key : all) {
    const std::string& first = value_of(groups.front(), key);
    const auto same = [&](const FleetKeys& g) { return value_of(g, key) == first; };
    if (std::ranges::all_of(groups, same)) {
      common += svg::escape(key + ": " + first) + "\n";
    } else {
      differing.push_back(key);
    }
  }
  std::string out;
  if (!differing.empty()) out += differing_rows(groups, differing);
  if (!common.empty())
    out += fmt::format("<details><summary>{}</summary>\n<pre>{}</pre></details>\n",
                       groups.size() > 1 ? "what they have in common" : "the fleet file's keys",
                       common);
  return out;
}

std::string report_page(const RunReport& report) {
  std::string out = "<h1>" + svg::escape(report.title) + "</h1>\n";
  if (!report.lead.empty()) out += "<p class=\"lead\">" + svg::escape(report.lead) + "</p>\n";
  out += head(report);
  for (const ReportSection& s : report.sections) out += section(s);
  if (!report.missing.empty())
    out += fmt::format(
        "<p class=\"note missing\">Not shown, because these runs did not record it: {}.</p>\n",
        svg::escape(fmt::format("{}", fmt::join(report.missing, "; "))));
  if (const std::string diff = fleet_diff(report.keys); !diff.empty())
    out += fmt::format("<h2>{}</h2>\n{}", report.keys.size() > 1 ? "Differences" : "The fleet file",
                       diff);
  out += "<h2>How it was made</h2>\n";
  if (!report.runs.rows.empty()) out += table_html(report.runs);
  out += list_html("notes", mapped(report.notes, svg::escape)) + meanings_html(words);
  return page_around(report.title, out);
}

std::vector<NamedFigure> named_figures(const RunReport& report) {
  std::vector<NamedFigure> figures;
  std::map<std::string, int> seen;
  const auto add = [&](const ReportSection& section, const ReportRow& row, const Figure& figure) {
    if (figure.picture.empty()) return;
    std::string name;
    for (const std::string& title : {section.title, row.name, figure.title}) add_words(title, name);
    for (const std::string& image : images_of(figure.picture)) {
      const int again = ++seen[name];
      figures.push_back({again == 1 ? name : fmt::format("{}-{}", name, again), image});
    }
  };
  for (const ReportSection& section : report.sections)
    for (const ReportRow& row : section.rows) {
      for (const Figure& figure : row.figures) add(section, row, figure);
      for (const Figure& figure : row.folded) add(section, row, figure);
    }
  return figures;
}

}  // namespace gv
