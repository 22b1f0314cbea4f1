#include "peer/cli/graph_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/predict/mixing.h"
#include "graph/spectrum/bounds.h"

namespace gv::cli {
namespace {

void put(Json& row, const std::string& name, const std::optional<Estimate>& e) {
  row[name] = e ? Json(e->value) : Json(nullptr);
  if (e && e->error > 0) row[name + "_error"] = e->error;
}

MixingBounds bounds_of(const GraphRow& r) {
  return mixing_bounds(r.topology.size(), r.spectrum.lambda2.value_or(NAN), r.spectrum.gap);
}

void print_line(const GraphRow& r) {
  fmt::print(
      "{:<34} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9.6f} {:>11.6g} {:>8} {:>8} {:>8} {:>8}  "
      "{:<12} {:>7.2f}\n",
      r.topology.name,
      r.topology.size(),
      r.topology.edges().size(),
      degree_cell(r),
      diameter_cell(r),
      eigenvalue_cell(r.spectrum.lambda2),
      eigenvalue_cell(r.spectrum.lambda_n),
      r.spectrum.slem,
      r.spectrum.gap,
      rounds_cell(r.spectrum),
      estimate_cell(r.s1_lian),
      estimate_cell(r.s1_atc),
      estimate_cell(r.n_eff),
      r.spectrum.method,
      r.seconds);
}

/// n times the Perron vector: 1 for all when degrees are equal.
std::string weight_range(const GraphRow& r) {
  if (!r.push_sum) return "-";
  const auto [low, high] = std::ranges::minmax(r.push_sum->perron);
  const double n = r.topology.size();
  return fmt::format("{:.3g} .. {:.3g}", n * low, n * high);
}

void print_more(const std::vector<GraphRow>& rows) {
  fmt::print("\n{:<34} {:>23} {:>23} {:>11} {:>11} {:>11} {:>9} {:>16}\n",
             "topology",
             "conductance",
             "mixing time to 1/4",
             "equal",
             "unequal",
             "convex",
             "push-sum",
             "its w");
  for (const GraphRow& r : rows) {
    const MixingBounds b = bounds_of(r);
    const TransientOrders t = transient_orders(r.topology.size(), r.spectrum.gap);
    fmt::print(
        "{:<34} {:>23} {:>23} {:>11.3g} {:>11.3g} {:>11.3g} {:>9} {:>16}\n",
        r.topology.name,
        r.spectrum.lambda2 ? fmt::format("{:.4g} .. {:.4g}", b.cheeger_low, b.cheeger_high) : "-",
        fmt::format("{:.4g} .. {:.4g}", b.mixing_low, b.mixing_high),
        t.equal_data,
        t.unequal_data,
        t.strongly_convex,
        r.push_sum ? fmt::format("{:.6f}", r.push_sum->rate) : "-",
        weight_range(r));
  }
  fmt::print(
      "conductance: Cheeger's bounds; mixing time: of the random walk; equal, unequal, convex: "
      "orders of the\ntransient with equal and unequal data (n^3/p^2, n^3/p^4, p = 1 - slem^2), "
      "strongly convex (n/gap^2)\npush-sum: "
      "factor per round by which it averages over directed edges; its w: least .. most of its "
      "weights, in the end\n");
}

}  // namespace

Json to_json(const GraphRow& r, bool more) {
  const bool disconnected = r.diameter && *r.diameter < 0;
  Json row{{"topology", r.topology.name},
           {"peers", r.topology.size()},
           {"edges", r.topology.edges().size()},
           {"degree_min", r.degree_min},
           {"degree_max", r.degree_max},
           {"diameter", !r.diameter || disconnected ? Json(nullptr) : Json(*r.diameter)},
           {"connected", r.connected},
           {"weights", r.weights},
           {"lambda2", r.spectrum.lambda2},
           {"lambda_n", r.spectrum.lambda_n},
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
  row.update({{"conductance", std::vector{b.cheeger_low, b.cheeger_high}},
              {"mixing_time", std::vector{b.mixing_low, b.mixing_high}},
              {"transient_equal_data", t.equal_data},
              {"transient_unequal_data", t.unequal_data},
              {"transient_strongly_convex", t.strongly_convex}});
  if (r.push_sum) row.update({{"push_sum_rate", r.push_sum->rate}, {"perron", r.push_sum->perron}});
  return row;
}

void print_table(const std::vector<GraphRow>& rows, double discount, bool more) {
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
  for (const GraphRow& r : rows) print_line(r);
  fmt::print(
      "slem = max(|lambda2|, |lambda_n|) (second singular value when directed); gap = 1 - slem; "
      "weights: {}\n"
      "to 1e-3: rounds of pure averaging until a disagreement is a thousandth\n"
      "s1: consensus distance that gradient noise of variance 1 per step keeps up, small steps; "
      "n_eff: effective\nneighbours at discount {}\n",
      rows.front().weights,
      discount);
  if (more) print_more(rows);
}

}  // namespace gv::cli
