#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/file_error.h"
#include "graph/formats/graph_file.h"
#include "graph/mixing/mixing.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/schedules.h"
#include "graph/spectrum/modes.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/cli/command.h"
#include "peer/cli/graph/graph_rows.h"
#include "peer/show/page/graph_page.h"

namespace gv::cli {
namespace {

constexpr PeerId diameter_limit = 20'000;  ///< all pairs of peers are examined

struct ReportOptions {
  std::vector<std::string> topologies;
  std::string edges;
  PeerId peers = 0;
  std::string weights = "metropolis";
  double discount = 0.99;
  bool more = false;
  bool json = false;
  std::string html;  ///< a file
};

/// Adds values of the whole spectrum; none for a directed W without orthogonal modes, or if the
/// error exceeds a tenth.
void add_modes(GraphRow& row,
               const MixingMatrix& w,
               const TopologySpec& spec,
               const ReportOptions& options) {
  std::optional<Modes> modes;
  try {
    modes = modes_of(w, &spec, row.weights);
  } catch (const std::invalid_argument& e) {
    return fmt::print(stderr, "note: {}: no s1, no n_eff: {}\n", row.topology.name, e.what());
  }
  const auto known = [&](const Estimate& e, const char* name) -> std::optional<Estimate> {
    if (e.error <= 0.1 * e.value) return e;
    fmt::print(stderr,
               "note: {}: no {}: {} peers are too many for all eigenvalues, and an estimate does "
               "not resolve the slowest modes\n",
               row.topology.name, name, row.topology.size());
    return std::nullopt;
  };
  Estimate lian = s1_lian(*modes);
  Estimate atc = s1_atc(*modes);
  if (atc.error > 0.01 * atc.value && !w.directed() &&
      row.connected) {  // slow modes blurred by an estimate
    if (const auto exact = selected_s1(SparseRows(w))) {
      lian = atc = *exact;
      atc.value -= (row.topology.size() - 1.0) / row.topology.size();
    }
  }
  row.s1_lian = known(lian, "s1_lian");
  row.s1_atc = known(atc, "s1_atc");
  row.n_eff = known(effective_neighbors(*modes, options.discount), "n_eff");
  if (!options.html.empty()) row.modes = std::move(modes);
}

/// Returns push-sum's figures for a directed graph, if there are any.
std::optional<PushSum> push_sum_of(const Topology& t) {
  if (!t.directed) return std::nullopt;
  try {
    return push_sum(t);
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "note: {}: no push-sum: {}\n", t.name, e.what());
    return std::nullopt;
  }
}

/// Returns W. Throws the reason if there is none, with the rate of push-sum, which would average.
MixingMatrix matrix_of(const Topology& t, const std::string& weights) {
  try {
    return mixing_matrix(weights, t);
  } catch (const GraphFileError&) {
    throw;  // other weights would not mend the file
  } catch (const std::invalid_argument& e) {
    const std::optional<PushSum> p = push_sum_of(t);
    if (!p) throw;
    const auto [low, high] = std::ranges::minmax(p->perron);
    throw std::invalid_argument(fmt::format(
        "{}\npush-sum, which needs no such weights, would average here: by {:.6f} per round in the "
        "end, its w between {:.4g} and {:.4g}",
        e.what(), p->rate, low * t.size(), high * t.size()));
  }
}

/// Reports on a graph too large to build, by its family's formulas; nothing if it has none.
std::optional<GraphRow> counted_row(const TopologySpec& spec, const ReportOptions& options) {
  const std::optional<GraphCounts> counts = counted(spec, options.peers);
  if (!counts) return std::nullopt;
  const auto spectrum = closed_form_spectrum(spec, options.peers, options.weights);
  std::optional<Modes> modes = closed_form_modes(spec, options.peers, options.weights);
  if (!spectrum || !modes) return std::nullopt;
  GraphRow row{.topology = {},
               .counts = counts,
               .weights = options.weights,
               .degree_min = counts->degree,
               .degree_max = counts->degree,
               .diameter = counts->diameter,
               .connected = true,
               .spectrum = *spectrum,
               .s1_lian = s1_lian(*modes),
               .s1_atc = s1_atc(*modes),
               .n_eff = effective_neighbors(*modes, options.discount),
               .push_sum = {},
               .seconds = 0,
               .modes = {}};
  row.topology.name = to_string(spec);
  if (!options.html.empty()) row.modes = std::move(modes);
  return row;
}

GraphRow make_row(const TopologySpec& spec, const ReportOptions& options) {
  if (std::optional<GraphRow> counted = counted_row(spec, options)) return std::move(*counted);
  GraphRow row{.topology = spec.is_file() ? read_graph(spec.file(), options.peers)
                                          : build(spec, options.peers),
               .weights = options.weights,
               .diameter = {},
               .spectrum = {},
               .s1_lian = {},
               .s1_atc = {},
               .n_eff = {},
               .push_sum = {},
               .seconds = 0,
               .modes = {}};
  const auto degree = [](const std::vector<PeerId>& neighbors) { return neighbors.size(); };
  const auto [low, high] = std::ranges::minmax(row.topology.neighbors, {}, degree);
  row.degree_min = low.size();
  row.degree_max = high.size();
  if (row.topology.size() <= diameter_limit) row.diameter = diameter(row.topology);
  row.connected = is_connected(row.topology);
  const MixingMatrix w = matrix_of(row.topology, options.weights);
  if (options.more) row.push_sum = push_sum_of(row.topology);
  // The name holds a shape that was left open.
  const TopologySpec full = spec.is_file() ? spec : parse_topology(row.topology.name);
  const auto start = std::chrono::steady_clock::now();
  row.spectrum = spectrum(w, &full, options.weights);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_modes(row, w, full, options);
  return row;
}

void print_report_json(const std::vector<GraphRow>& rows, const ReportOptions& options) {
  const auto json_of = [&](const GraphRow& row) { return to_json(row, options.more); };
  console::print({{"schema", "grapevine.graph/1"},
                  {"discount", options.discount},
                  {"rows", mapped(rows, json_of)}});
}

int report(const ReportOptions& options) {
  std::vector<GraphRow> rows;
  if (!options.edges.empty()) {
    rows.push_back(make_row(file_topology(options.edges), options));
  }
  for (const std::string& list : options.topologies) {
    for (const std::string& text : split_topologies(list)) {
      if (is_schedule(text))
        throw std::invalid_argument("graph report: " + text +
                                    " changes with the round: see `grapevine graph schedule " +
                                    text + " --peers N`");
      const TopologySpec spec = parse_topology(text);
      if (options.peers == 0 && !spec.is_file())
        throw std::invalid_argument("graph report: --topology " + text + " needs --peers N");
      rows.push_back(make_row(spec, options));
    }
  }
  if (rows.empty())
    throw std::invalid_argument("graph report: give --topology NAME[:params] or --edges FILE");
  for (const GraphRow& row : rows) {
    if (!row.connected) fmt::print(stderr, "warning: {}\n", disconnection(row.topology));
  }
  if (!options.html.empty()) {
    write_page(options.html, graph_page(rows, options.discount));
    fmt::print(stderr, "page: {}\n", options.html);
  }
  options.json ? print_report_json(rows, options)
               : print_table(rows, options.discount, options.more);
  return exit_code::done;
}

void report_options(Options& options, ReportOptions& o) {
  options.value("--topology", o.topologies,
                "Topology NAME[:params], such as torus:4x4, or several with commas (repeatable)");
  options.value("--edges", o.edges, "File with an edge list: `u v` or `u v weight` per line");
  options.value("--peers", o.peers, "Number of peers").range(1, 10'000'000);
  options
      .value("--weights", o.weights,
             "Rule for the mixing matrix: metropolis | max-degree | lazy | edge-list | file:PATH")
      .show_default();
  options
      .value("--discount", o.discount,
             "Discount of n_eff: (1 - rate * curvature)^2, the part of its past that a peer keeps "
             "per step")
      .range(0.0, 0.999999999)
      .show_default();
  options.flag("--more", o.more,
               "Also print conductance, mixing time, order of the transient time, push-sum on "
               "directed graphs");
  options.value("--html", o.html, "File for a page with the graphs and figures");
  options.json(o.json);
}

}  // namespace

Command graph_report_command() {
  return command(
      "report", "Spectral gap of topologies, and what follows from it",
      "  grapevine graph report --topology ring,torus:4x4,exponential --peers 16\n"
      "  grapevine graph report --topology random-regular:degree=3,seed=1,ring --peers 64 --json\n"
      "  grapevine graph report --edges my.edges --weights lazy --more\n"
      "  grapevine graph report --topology ring,torus,exponential --peers 64 --html graphs.html",
      report_options, report);
}

}  // namespace gv::cli
