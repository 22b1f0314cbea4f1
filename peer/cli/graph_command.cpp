#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/formats/format.h"
#include "graph/schedule.h"
#include "graph/spectrum.h"
#include "peer/cli/command.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

struct GraphOptions {
  std::vector<std::string> topologies;
  std::string edges;
  PeerId peers = 0;
  std::string weights = "metropolis";
  bool json = false;
};

struct Row {
  Topology topology;
  std::string weights;
  std::size_t degree_min, degree_max;
  std::int64_t diameter;
  bool connected;
  Spectrum spectrum;
};

Row make_row(const TopologySpec& spec, const GraphOptions& options) {
  Row row{.topology = spec.kind == "file" ? read_graph(spec.file, options.peers)
                                          : build(spec, options.peers),
          .weights = options.weights,
          .degree_min = 0,
          .degree_max = 0,
          .diameter = 0,
          .connected = false,
          .spectrum = {}};
  const auto degree = [](const std::vector<PeerId>& neighbors) { return neighbors.size(); };
  const auto [low, high] = std::ranges::minmax(row.topology.neighbors, {}, degree);
  row.degree_min = low.size();
  row.degree_max = high.size();
  row.diameter = diameter(row.topology);
  row.connected = is_connected(row.topology);
  row.spectrum = spectrum(mixing_matrix(options.weights, row.topology), &spec, options.weights);
  return row;
}

Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Row& r) {
  return {{"topology", r.topology.name},
          {"peers", r.topology.size()},
          {"edges", r.topology.edges().size()},
          {"degree_min", r.degree_min},
          {"degree_max", r.degree_max},
          {"diameter", r.diameter < 0 ? Json(nullptr) : Json(r.diameter)},
          {"connected", r.connected},
          {"weights", r.weights},
          {"lambda2", number(r.spectrum.lambda2)},
          {"lambda_n", number(r.spectrum.lambda_n)},
          {"slem", r.spectrum.slem},
          {"gap", r.spectrum.gap},
          {"rho", r.spectrum.rho()},
          {"method", r.spectrum.method}};
}

/// Rounds of averaging until a disagreement is a thousandth.
std::string rounds_to_thousandth(const Spectrum& s) {
  if (s.gap <= 0) return "never";
  if (s.slem < 1e-12) return "1";
  return fmt::format("{:.0f}", std::ceil(std::log(1e-3) / std::log1p(-s.gap)));
}

std::string eigenvalue(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : "-";
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("{:<34} {:>6} {:>8} {:>7} {:>8} {:>10} {:>10} {:>10} {:>12} {:>9}\n",
             "topology",
             "peers",
             "edges",
             "degree",
             "diameter",
             "lambda2",
             "lambda_n",
             "slem",
             "gap",
             "to 1e-3");
  for (const Row& r : rows) {
    const std::string degree = r.degree_min == r.degree_max
                                   ? fmt::format("{}", r.degree_min)
                                   : fmt::format("{}..{}", r.degree_min, r.degree_max);
    fmt::print("{:<34} {:>6} {:>8} {:>7} {:>8} {:>10} {:>10} {:>10.6f} {:>12.6g} {:>9}\n",
               r.topology.name,
               r.topology.size(),
               r.topology.edges().size(),
               degree,
               r.diameter < 0 ? "-" : fmt::format("{}", r.diameter),
               eigenvalue(r.spectrum.lambda2),
               eigenvalue(r.spectrum.lambda_n),
               r.spectrum.slem,
               r.spectrum.gap,
               rounds_to_thousandth(r.spectrum));
  }
  fmt::print(
      "slem = max(|lambda2|, |lambda_n|) (second singular value when directed); gap = 1 - slem; "
      "weights: {}\n"
      "to 1e-3: rounds of pure averaging until a disagreement is a thousandth\n",
      rows.front().weights);
}

void report(const GraphOptions& options) {
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
  for (const std::string& text : options.topologies)
    rows.push_back(make_row(parse_topology(text), options));
  if (rows.empty())
    throw std::invalid_argument("graph report: give --topology NAME[:params] or --edges FILE");
  if (!options.json) return print_table(rows);
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  fmt::print("{}\n", Json{{"schema", "grapevine.graph/1"}, {"rows", list}}.dump());
}

Json to_json(const Family& f, const char* key) {
  return {{key, f.kind}, {"parameters", f.parameters}, {"summary", f.summary}};
}

void list_json() {
  Json rows = Json::array();
  Json schedules = Json::array();
  for (const Family& f : families()) rows.push_back(to_json(f, "topology"));
  for (const Family& f : schedule_kinds()) schedules.push_back(to_json(f, "schedule"));
  fmt::print("{}\n",
             Json{{"schema", "grapevine.graph-list/1"},
                  {"rows", rows},
                  {"weights", weight_names()},
                  {"schedules", schedules}}
                 .dump());
}

void list(bool json) {
  if (json) return list_json();
  const auto print = [](const Family& f) {
    fmt::print("{:<22} {:<30} {}\n", f.kind, f.parameters, f.summary);
  };
  fmt::print("topologies\n");
  for (const Family& f : families()) print(f);
  fmt::print("\nschedules, which change with the round: see graph schedule\n");
  for (const Family& f : schedule_kinds()) print(f);
  fmt::print("\nweights: {}, file:PATH\n", fmt::join(weight_names(), ", "));
}

}  // namespace

void add_graph(CLI::App& app, Outcome&) {
  CLI::App* graph = app.add_subcommand("graph", "Topologies and their spectral gaps");
  graph->require_subcommand(1);
  add_graph_export(*graph);
  add_graph_best(*graph);
  add_graph_schedule(*graph);

  auto options = std::make_shared<GraphOptions>();
  CLI::App* rep =
      graph->add_subcommand("report", "Spectral gap, degrees and diameter of topologies");
  rep->add_option(
         "--topology", options->topologies, "NAME[:params], such as torus:4x4 (repeatable)")
      ->allow_extra_args(false);
  rep->add_option(
      "--edges", options->edges, "A graph file: .json .dot .graphml .npy, else an edge list");
  rep->add_option("--peers", options->peers, "Number of peers")->check(CLI::Range(1U, 10'000'000U));
  rep->add_option("--weights", options->weights, "A rule, see graph list; edge-list; or file:PATH")
      ->capture_default_str();
  rep->add_flag("--json", options->json, "Print JSON on stdout");
  add_examples(
      *rep,
      "  grapevine graph report --topology ring --topology torus:4x4 --peers 16\n"
      "  grapevine graph report --topology random-regular:degree=3,seed=1 --peers 64 --json\n"
      "  grapevine graph report --edges my.edges --weights lazy");
  rep->callback([options] { report(*options); });

  auto json = std::make_shared<bool>(false);
  CLI::App* families =
      graph->add_subcommand("list", "The families of topologies and their parameters");
  families->add_flag("--json", *json, "Print JSON on stdout");
  add_examples(*families, "  grapevine graph list");
  families->callback([json] { list(*json); });
}

}  // namespace gv::cli
