#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/bounds.h"
#include "graph/predict_mixing.h"
#include "graph/spectrum.h"
#include "graph/topology_list.h"
#include "peer/cli/command.h"

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
};

struct Row {
  Topology topology;
  std::string weights;
  std::size_t degree_min = 0, degree_max = 0;
  std::optional<std::int64_t> diameter;
  bool connected = false;
  Spectrum spectrum;
  std::optional<Estimate> s1_lian, s1_atc, n_eff;
  double seconds = 0;
};

/// Values of the whole spectrum; none for a directed W without orthogonal modes, or where a tenth
/// is not known.
void add_modes(Row& row, const MixingMatrix& w, const TopologySpec& spec, double discount) {
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
  row.s1_lian = known(s1_lian(*modes), "s1_lian");
  row.s1_atc = known(s1_atc(*modes), "s1_atc");
  row.n_eff = known(effective_neighbors(*modes, discount), "n_eff");
}

Row make_row(const TopologySpec& spec, const ReportOptions& options) {
  Row row{.topology = spec.kind == "file" ? read_edge_list(spec.file, options.peers)
                                          : build(spec, options.peers),
          .weights = options.weights,
          .diameter = {},
          .spectrum = {},
          .s1_lian = {},
          .s1_atc = {},
          .n_eff = {}};
  const auto degree = [](const std::vector<PeerId>& neighbors) { return neighbors.size(); };
  const auto [low, high] = std::ranges::minmax(row.topology.neighbors, {}, degree);
  row.degree_min = low.size();
  row.degree_max = high.size();
  if (row.topology.size() <= diameter_limit) row.diameter = diameter(row.topology);
  row.connected = is_connected(row.topology);
  const MixingMatrix w = mixing_matrix(options.weights, row.topology);
  // The name knows a shape that was left open.
  const TopologySpec full = spec.kind == "file" ? spec : parse_topology(row.topology.name);
  const auto start = std::chrono::steady_clock::now();
  row.spectrum = spectrum(w, &full, options.weights);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_modes(row, w, full, options.discount);
  return row;
}

Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void put(Json& row, const std::string& name, const std::optional<Estimate>& e) {
  row[name] = e ? Json(e->value) : Json(nullptr);
  if (e && e->error > 0) row[name + "_error"] = e->error;
}

MixingBounds bounds_of(const Row& r) {
  return mixing_bounds(r.topology.size(), r.spectrum.lambda2.value_or(NAN), r.spectrum.gap);
}

Json to_json(const Row& r, bool more) {
  const bool disconnected = r.diameter && *r.diameter < 0;
  Json row{{"topology", r.topology.name},
           {"peers", r.topology.size()},
           {"edges", r.topology.edges().size()},
           {"degree_min", r.degree_min},
           {"degree_max", r.degree_max},
           {"diameter", !r.diameter || disconnected ? Json(nullptr) : Json(*r.diameter)},
           {"connected", r.connected},
           {"weights", r.weights},
           {"lambda2", number(r.spectrum.lambda2)},
           {"lambda_n", number(r.spectrum.lambda_n)},
           {"slem", r.spectrum.slem},
           {"gap", r.spectrum.gap},
           {"gap_error", r.spectrum.gap_error},
           {"rho", r.spectrum.rho()}};
  put(row, "s1_lian", r.s1_lian);
  put(row, "s1_atc", r.s1_atc);
  put(row, "n_eff", r.n_eff);
  row["method"] = r.spectrum.method;
  row["seconds"] = r.seconds;
  if (!more) return row;
  const MixingBounds b = bounds_of(r);
  const TransientOrders t = transient_orders(r.topology.size(), r.spectrum.gap);
  row.update({{"conductance", {b.cheeger_low, b.cheeger_high}},
              {"mixing_time", {b.mixing_low, b.mixing_high}},
              {"transient_equal_data", t.equal_data},
              {"transient_unequal_data", t.unequal_data},
              {"transient_strongly_convex", t.strongly_convex}});
  return row;
}

/// Rounds of averaging until a disagreement is a thousandth.
std::string rounds_to_thousandth(const Spectrum& s) {
  const double rounds = rounds_to(s.slem < 1e-12 ? 1 : s.gap, 1e-3);
  return std::isfinite(rounds) ? fmt::format("{:.0f}", std::ceil(rounds)) : "never";
}

std::string eigenvalue(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : "-";
}

std::string short_number(const std::optional<Estimate>& e) {
  return e ? fmt::format("{:.4g}", e->value) : "-";
}

void print_line(const Row& r) {
  const std::string degree = r.degree_min == r.degree_max
                                 ? fmt::format("{}", r.degree_min)
                                 : fmt::format("{}..{}", r.degree_min, r.degree_max);
  fmt::print(
      "{:<34} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9.6f} {:>11.6g} {:>8} {:>8} {:>8} {:>8}  "
      "{:<12} {:>7.2f}\n",
      r.topology.name,
      r.topology.size(),
      r.topology.edges().size(),
      degree,
      r.diameter && *r.diameter >= 0 ? fmt::format("{}", *r.diameter) : "-",
      eigenvalue(r.spectrum.lambda2),
      eigenvalue(r.spectrum.lambda_n),
      r.spectrum.slem,
      r.spectrum.gap,
      rounds_to_thousandth(r.spectrum),
      short_number(r.s1_lian),
      short_number(r.s1_atc),
      short_number(r.n_eff),
      r.spectrum.method,
      r.seconds);
}

void print_more(const std::vector<Row>& rows) {
  fmt::print("\n{:<34} {:>23} {:>23} {:>11} {:>11} {:>11}\n",
             "topology",
             "conductance",
             "mixing time to 1/4",
             "equal",
             "unequal",
             "convex");
  for (const Row& r : rows) {
    const MixingBounds b = bounds_of(r);
    const TransientOrders t = transient_orders(r.topology.size(), r.spectrum.gap);
    fmt::print(
        "{:<34} {:>23} {:>23} {:>11.3g} {:>11.3g} {:>11.3g}\n",
        r.topology.name,
        r.spectrum.lambda2 ? fmt::format("{:.4g} .. {:.4g}", b.cheeger_low, b.cheeger_high) : "-",
        fmt::format("{:.4g} .. {:.4g}", b.mixing_low, b.mixing_high),
        t.equal_data,
        t.unequal_data,
        t.strongly_convex);
  }
  fmt::print(
      "conductance: Cheeger's bounds; mixing time: of the random walk; equal, unequal, convex: "
      "orders of the\ntransient with equal and unequal data (n^3/p^2, n^3/p^4, p = 1 - slem^2), "
      "strongly convex (n/gap^2)\n");
}

void print_table(const std::vector<Row>& rows, const ReportOptions& options) {
  fmt::print(
      "{:<34} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9} {:>11} {:>8} {:>8} {:>8} {:>8}  {:<12} "
      "{:>7}\n",
      "topology",
      "peers",
      "edges",
      "degree",
      "diameter",
      "lambda2",
      "lambda_n",
      "slem",
      "gap",
      "to 1e-3",
      "s1_lian",
      "s1_atc",
      "n_eff",
      "method",
      "seconds");
  for (const Row& r : rows) print_line(r);
  fmt::print(
      "slem = max(|lambda2|, |lambda_n|) (second singular value when directed); gap = 1 - slem; "
      "weights: {}\n"
      "to 1e-3: rounds of pure averaging until a disagreement is a thousandth\n"
      "s1: consensus distance that gradient noise of variance 1 per step keeps up, small steps; "
      "n_eff: effective\nneighbours at discount {}\n",
      options.weights,
      options.discount);
  if (options.more) print_more(rows);
}

void report(const ReportOptions& options) {
  std::vector<Row> rows;
  if (!options.edges.empty()) {
    TopologySpec spec;
    spec.kind = "file";
    spec.file = options.edges;
    rows.push_back(make_row(spec, options));
  }
  if (!options.topologies.empty() && options.peers == 0) {
    throw std::invalid_argument("graph report: --topology needs --peers N");
  }
  for (const std::string& list : options.topologies) {
    for (const std::string& text : split_topologies(list))
      rows.push_back(make_row(parse_topology(text), options));
  }
  if (rows.empty())
    throw std::invalid_argument("graph report: give --topology NAME[:params] or --edges FILE");
  if (!options.json) return print_table(rows, options);
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(to_json(row, options.more));
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
  rep->add_flag("--more", options->more, "Conductance, mixing time, orders of the transient");
  rep->add_flag("--json", options->json, "Print JSON on stdout");
  add_examples(
      *rep,
      "  grapevine graph report --topology ring,torus:4x4,exponential --peers 16\n"
      "  grapevine graph report --topology random-regular:degree=3,seed=1,ring --peers 64 --json\n"
      "  grapevine graph report --edges my.edges --weights lazy --more");
  rep->callback([options] { report(*options); });
}

}  // namespace gv::cli
