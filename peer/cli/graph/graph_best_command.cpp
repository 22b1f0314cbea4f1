#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/best_graphs.h"
#include "graph/weights.h"
#include "peer/cli/command.h"
#include "peer/cli/graph/graph_rows.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv::cli {
namespace {

struct BestOptions {
  GraphSearch search;
  QuadraticFleet fleet;
  bool predict = false;  ///< an option about the fleet was given
  GraphGoal goal;
  std::size_t top = 10;
  bool json = false;
};

Json candidate_json(const GraphCandidate& c) {
  return {{"name", c.name},
          {"kind", c.spec.is_static() ? "topology" : "schedule"},
          {"neighbors_most", c.most_neighbors},
          {"neighbors_mean", c.mean_neighbors},
          {"period", c.rate.period},
          {"factor_per_round", c.rate.per_round},
          {"gap", 1 - c.rate.per_round},
          {"rounds_to_thousandth", rounds_to_thousandth(c)},
          {"score", std::isfinite(c.score) ? Json(c.score) : Json(nullptr)},
          {"method", c.rate.method}};
}

void print_candidates(const std::vector<GraphCandidate>& found,
                      const BestOptions& o,
                      const std::string& reason) {
  const bool predicted = o.goal.fleet.has_value();
  fmt::print("{:<22} {:>6} {:>6} {:>6} {:>8} {:>8} {:>7}{}\n", "graph", "degree", "models",
             "period", "factor", "gap", "to 1e-3",
             !predicted      ? ""
             : o.goal.target ? "  to target"
                             : " local loss");
  for (const GraphCandidate& c : found) {
    fmt::print("{} {:>6} {:>6.3g} {:>6} {:>8.6f} {:>8.6f} {:>7.0f}{}\n", name_cell(c.name),
               c.most_neighbors, c.mean_neighbors,
               c.rate.period == 0 ? "random" : fmt::format("{}", c.rate.period), c.rate.per_round,
               1 - c.rate.per_round, rounds_to_thousandth(c),
               predicted ? fmt::format(" {:>10.5g}", c.score) : "");
  }
  std::string notes = fmt::format(
      "models: sent by a peer in a round; factor: of a disagreement per round (mean over a period; "
      "root mean square when random); gap = 1 - factor; to 1e-3: rounds until a disagreement is a "
      "thousandth; weights: {}",
      o.search.weights);
  if (predicted)
    notes +=
        "; local loss, to target: of the local models on the quadratic; inf: diverges, never, or "
        "no theory";
  console::print_wrapped(notes, 0);
  console::print_wrapped("best: " + reason, 6);
}

void print_best_json(const std::vector<GraphCandidate>& found,
                     const BestOptions& o,
                     const std::string& reason) {
  console::print({{"schema", "grapevine.graph-best/1"},
                  {"peers", o.search.peers},
                  {"max_degree", o.search.max_degree},
                  {"weights", o.search.weights},
                  {"measure", o.goal.measure()},
                  {"reason", reason},
                  {"rows", mapped(found, candidate_json)}});
}

int best(const BestOptions& options) {
  BestOptions o = options;
  if (o.predict) {
    o.goal.fleet = o.fleet;
    o.search.score = [&o](const GraphCandidate& c) { return score_of(c, o.search.peers, o.goal); };
  }
  std::vector<GraphCandidate> found = best_graphs(o.search);
  if (found.empty()) {
    throw std::invalid_argument(
        fmt::format("graph best: no connected graph of degree {} on {} peers; a higher "
                    "--max-degree, or --schedules",
                    o.search.max_degree, o.search.peers));
  }
  const std::string reason = reason_of(found, o.goal);
  if (found.size() > o.top) found.resize(o.top);
  o.json ? print_best_json(found, o, reason) : print_candidates(found, o, reason);
  return exit_code::done;
}

void best_options(Options& options, BestOptions& o) {
  options.value("--peers", o.search.peers, "Number of peers").required().range(2, 100'000);
  options.value("--max-degree", o.search.max_degree, "Maximum number of neighbours per peer")
      .required()
      .range(1, 100'000);
  options.value("--seeds", o.search.seeds, "Number of seeds to try of each random family")
      .range(1, 10'000)
      .show_default();
  options.value("--weights", o.search.weights, "Rule for the mixing matrix of static graphs")
      .one_of(weight_names())
      .show_default();
  options.value("--top", o.top, "Number of rows to show").show_default();
  options.flag("--schedules", o.search.schedules, "Also search graphs that change every round");
  options
      .list("--hessian", o.fleet.hessian,
            "Curvatures h1,h2,...: rank graphs by D-PSGD's loss on this quadratic instead of by "
            "averaging alone")
      .tell(o.predict);
  options
      .value("--noise", o.fleet.noise, "Variance of a gradient, per coordinate: data.noise squared")
      .show_default()
      .tell(o.predict);
  options
      .value("--spread", o.fleet.spread,
             "Variance of the peers' minima, per coordinate: data.spread squared")
      .tell(o.predict);
  options.value("--rate", o.fleet.rate, "Learning rate").show_default().tell(o.predict);
  options.value("--order", o.fleet.order, fmt::format("{}", fmt::join(quadratic_orders(), " | ")))
      .show_default()
      .tell(o.predict);
  options
      .value("--consensus-step", o.fleet.consensus_step,
             "Consensus step size gamma of beer and motef, without a codec")
      .tell(o.predict);
  options.value("--target", o.goal.target, "Excess loss of the local models to count the rounds to")
      .tell(o.predict);
  options.value("--start", o.goal.start, "With --target: initial value of each coordinate")
      .show_default();
  options.json(o.json);
}

}  // namespace

Command graph_best_command() {
  return command(
      "best", "Search the graphs of a degree for the fastest averaging",
      "  grapevine graph best --peers 16 --max-degree 4\n"
      "  grapevine graph best --peers 64 --max-degree 3 --seeds 100 --schedules --json\n"
      "  grapevine graph best --peers 16 --max-degree 4 --hessian 1,0.1 --spread 1 --target "
      "0.05",
      best_options, best);
}

}  // namespace gv::cli
