#include "peer/cli/graph/graph_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/predict/rates/mixing_rates.h"
#include "graph/spectrum/modes.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

void put(Json& row, const std::string& name, const std::optional<Estimate>& e) {
  row[name] = e ? Json(e->value) : Json(nullptr);
  if (e && e->error > 0) row[name + "_error"] = e->error;
}

MixingBounds bounds_of(const GraphRow& r) {
  return mixing_bounds(r.peers(), r.spectrum.lambda2.value_or(NAN), r.spectrum.gap);
}

void print_line(const GraphRow& r) {
  fmt::print("{} {:>7} {:>6} {:>5} {:>8.6f} {:>11.6g} {:>7} {:>7}\n", name_cell(r.topology.name),
             r.peers(), degree_cell(r), diameter_cell(r), r.spectrum.slem, r.spectrum.gap,
             rounds_cell(r.spectrum), estimate_cell(r.n_eff));
}

/// Returns the range of n times the Perron vector: 1 for all if degrees are equal.
std::string weight_range(const GraphRow& r) {
  if (!r.push_sum) return "-";
  const auto [low, high] = std::ranges::minmax(r.push_sum->perron);
  const double n = r.peers();
  return fmt::format("{:.3g} .. {:.3g}", n * low, n * high);
}

void print_spectrum(const GraphRow& r) {
  fmt::print("\n{}\n", r.topology.name);
  fmt::print("  edges {}, lambda2 {}, lambda_n {}\n", r.edges(),
             eigenvalue_cell(r.spectrum.lambda2), eigenvalue_cell(r.spectrum.lambda_n));
  fmt::print("  s1: lian {}, atc {}; found by {} in {:.2f} s\n", estimate_cell(r.s1_lian),
             estimate_cell(r.s1_atc), r.spectrum.method, r.seconds);
}

void print_more(const std::vector<GraphRow>& rows) {
  for (const GraphRow& r : rows) {
    print_spectrum(r);
    const MixingBounds b = bounds_of(r);
    const TransientOrders t = transient_orders(r.peers(), r.spectrum.gap);
    if (r.spectrum.lambda2)
      fmt::print("  conductance {:.4g} .. {:.4g}\n", b.cheeger_low, b.cheeger_high);
    fmt::print("  mixing time to 1/4: {:.4g} .. {:.4g}\n", b.mixing_low, b.mixing_high);
    fmt::print("  transient: equal data {:.3g}, unequal {:.3g}, strongly convex {:.3g}\n",
               t.equal_data, t.unequal_data, t.strongly_convex);
    if (r.push_sum)
      fmt::print("  push-sum: {:.6f} a round, its w {}\n", r.push_sum->rate, weight_range(r));
  }
  fmt::print(
      "\ns1: consensus distance that gradient noise of variance 1 per step keeps up,\n"
      "small steps; conductance: Cheeger's bounds; mixing time: of the random walk;\n"
      "transient: orders of its rounds, n^3/p^2, n^3/p^4 with p = 1 - slem^2, and\n"
      "n/gap^2; push-sum: factor a round by which it averages over directed edges;\n"
      "its w: least .. most of its weights in the end\n");
}

}  // namespace

std::string name_cell(const std::string& name) {
  constexpr std::size_t columns = 22;
  if (columns_of(name) <= columns) return fmt::format("{:<22}", name);
  return fmt::format("{}\n{:<22}", name, "");
}

Json to_json(const GraphRow& r, bool more) {
  const bool disconnected = r.diameter && *r.diameter < 0;
  Json row{{"topology", r.topology.name},
           {"peers", r.peers()},
           {"edges", r.edges()},
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
  const TransientOrders t = transient_orders(r.peers(), r.spectrum.gap);
  row.update({{"conductance", std::vector{b.cheeger_low, b.cheeger_high}},
              {"mixing_time", std::vector{b.mixing_low, b.mixing_high}},
              {"transient_equal_data", t.equal_data},
              {"transient_unequal_data", t.unequal_data},
              {"transient_strongly_convex", t.strongly_convex}});
  if (r.push_sum) row.update({{"push_sum_rate", r.push_sum->rate}, {"perron", r.push_sum->perron}});
  return row;
}

void print_table(const std::vector<GraphRow>& rows, double discount, bool more) {
  fmt::print("{:<22} {:>7} {:>6} {:>5} {:>8} {:>11} {:>7} {:>7}\n", "topology", "peers", "degree",
             "diam", "slem", "gap", "to 1e-3", "n_eff");
  for (const GraphRow& r : rows) print_line(r);
  fmt::print(
      "slem: the second largest |eigenvalue| of W ({}), singular value where it\n"
      "is directed; gap = 1 - slem; to 1e-3: rounds of pure averaging until a\n"
      "disagreement is a thousandth; n_eff: effective neighbours at discount {};\n"
      "diam: diameter\n",
      rows.front().weights, discount);
  if (more)
    print_more(rows);
  else
    fmt::print("--more: lambda2, lambda_n, s1, conductance, mixing time, transients, push-sum\n");
}

}  // namespace gv::cli
