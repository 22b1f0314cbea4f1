#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/schedule/search.h"
#include "peer/cli/command.h"
#include "peer/predict/forecast/graph_score.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BestOptions {
  GraphSearch search;
  QuadraticFleet fleet;
  GraphGoal goal;
  std::size_t top = 10;
  bool json = false;
};

Json to_json(const GraphCandidate& c) {
  return {{"name", c.name},
          {"kind", c.spec.kind == "static" ? "topology" : "schedule"},
          {"neighbors_most", c.most_neighbors},
          {"neighbors_mean", c.mean_neighbors},
          {"period", c.rate.period},
          {"factor_per_round", c.rate.per_round},
          {"gap", 1 - c.rate.per_round},
          {"rounds_to_thousandth", rounds_to_thousandth(c)},
          {"score", std::isfinite(c.score) ? Json(c.score) : Json(nullptr)},
          {"method", c.rate.method}};
}

void print_table(const std::vector<GraphCandidate>& found,
                 const BestOptions& o,
                 const std::string& reason) {
  const bool predicted = o.goal.fleet.has_value();
  fmt::print("{:<34} {:>6} {:>12} {:>7} {:>10} {:>10} {:>9}{}\n",
             "graph",
             "degree",
             "models/round",
             "period",
             "factor",
             "gap",
             "to 1e-3",
             !predicted      ? ""
             : o.goal.target ? "  to target"
                             : " local loss");
  for (const GraphCandidate& c : found) {
    fmt::print("{:<34} {:>6} {:>12.3g} {:>7} {:>10.6f} {:>10.6f} {:>9.0f}{}\n",
               c.name,
               c.most_neighbors,
               c.mean_neighbors,
               c.rate.period == 0 ? "random" : fmt::format("{}", c.rate.period),
               c.rate.per_round,
               1 - c.rate.per_round,
               rounds_to_thousandth(c),
               predicted ? fmt::format(" {:>10.5g}", c.score) : "");
  }
  fmt::print(
      "factor: of a disagreement per round (mean over a period; root mean square when random); "
      "gap = 1 - factor; weights: {}\n",
      o.search.weights);
  if (predicted)
    fmt::print(
        "local loss, to target: of the local models on the quadratic; inf: diverges, never, "
        "or no theory\n");
  fmt::print("best: {}\n", reason);
}

void best(BestOptions o) {
  if (o.goal.fleet) {
    o.search.score = [&o](const GraphCandidate& c) { return score_of(c, o.search.peers, o.goal); };
  }
  std::vector<GraphCandidate> found = best_graphs(o.search);
  if (found.empty()) {
    throw std::invalid_argument(
        fmt::format("graph best: no connected graph of degree {} on {} peers; a higher "
                    "--max-degree, or --schedules",
                    o.search.max_degree,
                    o.search.peers));
  }
  const std::string reason = reason_of(found, o.goal);
  if (found.size() > o.top) found.resize(o.top);
  if (!o.json) return print_table(found, o, reason);
  Json rows = Json::array();
  for (const GraphCandidate& c : found) rows.push_back(to_json(c));
  fmt::print("{}\n",
             Json{{"schema", "grapevine.graph-best/1"},
                  {"peers", o.search.peers},
                  {"max_degree", o.search.max_degree},
                  {"weights", o.search.weights},
                  {"measure", o.goal.measure()},
                  {"reason", reason},
                  {"rows", rows}}
                 .dump());
}

}  // namespace

void add_graph_best(CLI::App& graph) {
  auto o = std::make_shared<BestOptions>();
  CLI::App* command =
      graph.add_subcommand("best", "Searches the graphs of a degree for the fastest averaging");
  command->add_option("--peers", o->search.peers, "Number of peers")
      ->required()
      ->check(CLI::Range(2U, 100'000U));
  command->add_option("--max-degree", o->search.max_degree, "Neighbours that a peer may hear")
      ->required()
      ->check(CLI::Range(1U, 100'000U));
  command->add_option("--seeds", o->search.seeds, "Seeds of each random family")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--weights", o->search.weights, "Weights of the static graphs")
      ->check(CLI::IsMember(weight_names()))
      ->capture_default_str();
  command->add_option("--top", o->top, "Rows to show")->capture_default_str();
  command->add_flag("--schedules", o->search.schedules, "Also graphs that change with the round");
  command
      ->add_option("--hessian",
                   o->fleet.hessian,
                   "Curvatures h1,h2,...: put graphs in the order of D-PSGD's losses on this "
                   "quadratic, not of averaging alone")
      ->delimiter(',');
  command->add_option("--noise", o->fleet.noise, "Variance of a gradient, per coordinate")
      ->capture_default_str();
  command->add_option("--spread", o->fleet.spread, "Variance of the peers' minima, per coordinate");
  command->add_option("--rate", o->fleet.rate, "Learning rate")->capture_default_str();
  command->add_option("--order", o->fleet.order, "lian | atc | cta | d2 | gradient-tracking")
      ->capture_default_str();
  command->add_option(
      "--target", o->goal.target, "Excess loss of the local models: count the rounds to it");
  command->add_option("--start", o->goal.start, "x_0 in every coordinate, with --target")
      ->capture_default_str();
  command->add_flag("--json", o->json, "Print JSON on stdout");
  add_examples(
      *command,
      "  grapevine graph best --peers 16 --max-degree 4\n"
      "  grapevine graph best --peers 64 --max-degree 3 --seeds 100 --schedules --json\n"
      "  grapevine graph best --peers 16 --max-degree 4 --hessian 1,0.1 --spread 1 --target "
      "0.05");
  command->callback([o, command] {
    const auto given = [command](const char* name) { return command->count(name) > 0; };
    if (given("--hessian") || given("--noise") || given("--spread") || given("--rate") ||
        given("--order") || given("--target"))
      o->goal.fleet = o->fleet;
    best(*o);
  });
}

}  // namespace gv::cli
