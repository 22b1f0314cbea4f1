#include "peer/show/page/graph_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "graph/predict/rates/mixing_rates.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

/// Heads of the columns, and their meaning.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> columns{{
    {"topology", "graph of the exchanges; grapevine graph list describes the families"},
    {"peers", "in the fleet"},
    {"edges", "pairs that talk (one way each when directed)"},
    {"degree", "number of neighbours that a peer receives from in a round: least .. most"},
    {"diameter", "longest shortest path, in hops"},
    {"lambda2", "second largest eigenvalue of W: the slowest pattern that averaging removes"},
    {"lambda_n",
     "smallest eigenvalue of W; in the order lian the rate must stay below (1 + lambda_n) / L, L "
     "the curvature of the loss"},
    {"slem",
     "max(|lambda2|, |lambda_n|), the second singular value when directed: what a round leaves of "
     "the worst disagreement"},
    {"gap", "1 - slem: the larger, the faster"},
    {"to 1e-3", "rounds of pure averaging until the worst disagreement is a thousandth"},
    {"s1 lian",
     "consensus distance that gradient noise of variance 1 per step keeps up, for small steps, "
     "when "
     "gradients are taken before averaging"},
    {"s1 atc", "the same when averaging comes last"},
    {"n_eff", "effective neighbours: how many peers' worth of noise reduction a peer gets"},
}};

std::string cell(const std::string& value, bool best = false) {
  return best ? "<td class=\"best\">" + value + "</td>" : "<td>" + value + "</td>";
}

std::string key(std::size_t k) {
  return key_html(svg::series(k));
}

std::string table(const std::vector<GraphRow>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const auto& [head, meaning] : columns)
    out += fmt::format("<th title=\"{}\">{}</th>", svg::escape(meaning), head);
  out += "</tr></thead>\n<tbody>\n";
  double best = 0;
  for (const GraphRow& r : rows) best = std::max(best, r.spectrum.gap);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const GraphRow& r = rows[k];
    const bool is_best = rows.size() > 1 && r.spectrum.gap >= best - 1e-12;
    out += "<tr>" + cell(key(k) + svg::escape(r.topology.name)) + cell(std::to_string(r.peers())) +
           cell(std::to_string(r.edges())) + cell(degree_cell(r)) + cell(diameter_cell(r)) +
           cell(eigenvalue_cell(r.spectrum.lambda2)) + cell(eigenvalue_cell(r.spectrum.lambda_n)) +
           cell(fmt::format("{:.6f}", r.spectrum.slem)) +
           cell(fmt::format("{:.6g}", r.spectrum.gap), is_best) +
           cell(rounds_cell(r.spectrum), is_best) + cell(estimate_cell(r.s1_lian)) +
           cell(estimate_cell(r.s1_atc)) + cell(estimate_cell(r.n_eff)) + "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string cards(const std::vector<GraphRow>& rows) {
  std::string out = "<div class=\"cards\">\n";
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Topology& t = rows[k].topology;
    out += fmt::format(
        "<figure class=\"card\"><figcaption>{}{}<small>{} {}, degree {}{}</small></figcaption>\n{}"
        "</figure>\n",
        key(k), svg::escape(t.name), rows[k].edges(), t.directed ? "directed edges" : "edges",
        degree_cell(rows[k]), rows[k].connected ? "" : ", not connected",
        rows[k].counts ? std::string("<p class=\"note\">Too many edges to be drawn.</p>\n")
                       : topology_figure(t, k));
  }
  return out + "</div>\n";
}

std::string rounds_text(const Spectrum& s) {
  const std::string rounds = rounds_cell(s);
  return rounds == "never" ? rounds : rounds + (rounds == "1" ? " round" : " rounds");
}

std::string legend(const std::vector<GraphRow>& rows) {
  std::vector<std::string> entries;
  for (std::size_t k = 0; k < rows.size(); ++k)
    entries.push_back(fmt::format("{}{}: {}", line_key_html(k, " style=\"display:inline\""),
                                  svg::escape(rows[k].topology.name),
                                  rounds_text(rows[k].spectrum)));
  return list_html("legend", entries);
}

std::string meanings(double discount) {
  return fmt::format(
      "<h2>What the columns mean</h2>\n{}<p class=\"note\">n_eff at discount {:g}.</p>\n",
      meanings_html(columns), discount);
}

std::string peers_text(const std::vector<GraphRow>& rows) {
  const auto [low, high] =
      std::ranges::minmax(rows, {}, [](const GraphRow& r) { return r.peers(); });
  return low.peers() == high.peers() ? fmt::format("{} peers", low.peers())
                                     : fmt::format("{} to {} peers", low.peers(), high.peers());
}

/// Names the topology that averages fastest.
std::string lead(const std::vector<GraphRow>& rows) {
  const auto gap = [](const GraphRow& r) { return r.spectrum.gap; };
  const GraphRow& best = *std::ranges::max_element(rows, {}, gap);
  std::string text = fmt::format("Weights: {}. ", rows.front().weights);
  if (rows.size() > 1 && best.spectrum.gap > 0) {
    text += fmt::format(
        "Fastest averaging: {}, a thousandth after {}, with {} neighbour{} to receive from.",
        best.topology.name, rounds_text(best.spectrum), degree_cell(best),
        best.degree_max == 1 ? "" : "s");
  }
  return svg::escape(text);
}

}  // namespace

double rounds_to_thousandth(const Spectrum& s) {
  return rounds_to(s.slem < 1e-12 ? 1 : s.gap, 1e-3);
}

std::string rounds_cell(const Spectrum& s) {
  const double rounds = rounds_to_thousandth(s);
  return std::isfinite(rounds) ? fmt::format("{:.0f}", std::ceil(rounds)) : "never";
}

std::string degree_cell(const GraphRow& r) {
  return r.degree_min == r.degree_max ? fmt::format("{}", r.degree_min)
                                      : fmt::format("{}..{}", r.degree_min, r.degree_max);
}

std::string diameter_cell(const GraphRow& r) {
  return r.diameter && *r.diameter >= 0 ? fmt::format("{}", *r.diameter) : "-";
}

std::string eigenvalue_cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : "-";
}

std::string estimate_cell(const std::optional<Estimate>& e) {
  return e ? fmt::format("{:.4g}", e->value) : "-";
}

std::string graph_page(const std::vector<GraphRow>& rows, double discount) {
  const std::string title =
      fmt::format("{} for {}", rows.size() == 1 ? "A topology" : "Topologies", peers_text(rows));
  std::string out = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", title, lead(rows));
  out += table(rows);
  out += "<h2>Graphs</h2>\n" + cards(rows);
  out +=
      "<h2>Spectra</h2>\n<p class=\"note\">Each bar is an eigenvalue of W; its height grows with "
      "the square root of how many modes share it. Shaded: the gaps to 1 and to -1. The wider, the "
      "faster the slowest mode dies.</p>\n<figure class=\"wide\">" +
      spectrum_figure(rows) + "</figure>\n";
  out +=
      "<h2>Consensus over rounds</h2>\n<p class=\"note\">Pure averaging from independent random "
      "starts: the root mean square distance to the mean, relative to the start. Circles on the "
      "dotted line: when the worst start is at a thousandth, as in the table. Topologies that do "
      "the "
      "same share a line, in dashes.</p>\n<figure "
      "class=\"wide\">" +
      decay_figure(rows) + "</figure>\n" + legend(rows);
  return page_around(title, out + meanings(discount));
}

void write_page(const std::string& path, const std::string& page) {
  const std::string temporary = path + ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << page;
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0)
    throw std::runtime_error(path + ": cannot be written");
}

}  // namespace gv
