#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/file_error.h"
#include "graph/formats/format.h"
#include "graph/mixing/sparse_rows.h"
#include "graph/predict/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/spectrum/selected_inverse.h"
#include "graph/topology/topology_list.h"
#include "peer/cli/command.h"
#include "peer/cli/graph_rows.h"
#include "peer/page/graph_page.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr PeerId diameter_limit = 20'000;  ///< all pairs of peers are looked at

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

/// Values of the whole spectrum; none for a directed W without orthogonal modes, or where a tenth
/// is not known.
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
               row.topology.name,
               name,
               row.topology.size());
    return std::nullopt;
  };
  Estimate lian = s1_lian(*modes);
  Estimate atc = s1_atc(*modes);
  if (atc.error > 0.01 * atc.value && !w.directed() &&
      row.connected) {  // slow modes that an estimate blurs
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

/// Of a directed graph, where it has one.
std::optional<PushSum> push_sum_of(const Topology& t) {
  if (!t.directed) return std::nullopt;
  try {
    return push_sum(t);
  } catch (const std::invalid_argument& e) {
    fmt::print(stderr, "note: {}: no push-sum: {}\n", t.name, e.what());
    return std::nullopt;
  }
}

/// W, or why not, and what would average instead.
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
        e.what(),
        p->rate,
        low * t.size(),
        high * t.size()));
  }
}

GraphRow make_row(const TopologySpec& spec, const ReportOptions& options) {
  GraphRow row{.topology = spec.kind == "file" ? read_graph(spec.file, options.peers)
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
  // The name knows a shape that was left open.
  const TopologySpec full = spec.kind == "file" ? spec : parse_topology(row.topology.name);
  const auto start = std::chrono::steady_clock::now();
  row.spectrum = spectrum(w, &full, options.weights);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_modes(row, w, full, options);
  return row;
}

void report(const ReportOptions& options) {
  std::vector<GraphRow> rows;
  if (!options.edges.empty()) {
    TopologySpec spec;
    spec.kind = "file";
    spec.file = options.edges;
    rows.push_back(make_row(spec, options));
  }
  for (const std::string& list : options.topologies) {
    for (const std::string& text : split_topologies(list)) {
      if (is_schedule(text))
        throw std::invalid_argument("graph report: " + text +
                                    " changes with the round: see `grapevine graph schedule " +
                                    text + " --peers N`");
      const TopologySpec spec = parse_topology(text);
      if (options.peers == 0 && spec.kind != "file")
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
  if (!options.json) return print_table(rows, options.discount, options.more);
  Json list = Json::array();
  for (const GraphRow& row : rows) list.push_back(to_json(row, options.more));
  fmt::print(
      "{}\n",
      Json{{"schema", "grapevine.graph/1"}, {"discount", options.discount}, {"rows", list}}.dump());
}

}  // namespace

void add_graph_report(CLI::App& graph) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* rep = graph.add_subcommand("report", "Spectral gap and what follows, of topologies");
  rep->add_option("--topology",
                  options->topologies,
                  "NAME[:params], such as torus:4x4, or several with commas (repeatable)")
      ->allow_extra_args(false);
  rep->add_option("--edges", options->edges, "Edge list: `u v` or `u v weight` per line");
  rep->add_option("--peers", options->peers, "Number of peers")->check(CLI::Range(1U, 10'000'000U));
  rep->add_option(
         "--weights", options->weights, "metropolis | max-degree | lazy | edge-list | file:PATH")
      ->capture_default_str();
  rep->add_option("--discount",
                  options->discount,
                  "Of n_eff: (1 - rate * curvature)^2, what a peer remembers per step")
      ->check(CLI::Range(0.0, 0.999999999))
      ->capture_default_str();
  rep->add_flag("--more",
                options->more,
                "Conductance, mixing time, orders of the transient, push-sum on directed graphs");
  rep->add_option("--html", options->html, "Also write a page with the graphs and figures to FILE");
  rep->add_flag("--json", options->json, "Print JSON on stdout");
  add_examples(
      *rep,
      "  grapevine graph report --topology ring,torus:4x4,exponential --peers 16\n"
      "  grapevine graph report --topology random-regular:degree=3,seed=1,ring --peers 64 --json\n"
      "  grapevine graph report --edges my.edges --weights lazy --more\n"
      "  grapevine graph report --topology ring,torus,exponential --peers 64 --html graphs.html");
  rep->callback([options] { report(*options); });
}

}  // namespace gv::cli
