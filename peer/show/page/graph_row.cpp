#include "peer/show/page/graph_row.h"

#include <cmath>

#include <fmt/format.h>

#include "graph/predict/mixing.h"

namespace gv {

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

}  // namespace gv
