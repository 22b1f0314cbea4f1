#include "graph/weights.h"

#include <algorithm>
#include <stdexcept>

#include "graph/formats/matrix_file.h"
#include "graph/mixing/optimal_weights.h"
#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

MixingMatrix bounded(MixingMatrix w) {
  require_bounded(w, "mixing matrix");
  return w;
}

MixingMatrix fdla_weights(const Topology& t) {
  return fdla(t);
}

MixingMatrix fmmc_weights(const Topology& t) {
  return fmmc(t);
}

MixingMatrix edge_list_weights(const Topology& t) {
  return bounded(listed_weights(t));
}

constexpr WeightRule rules[] = {
    {.name = "metropolis",
     .summary = "1 / (1 + the larger degree of both ends); Xiao, Boyd & Lall 2005",
     .make = metropolis,
     .compares_graphs = true},
    {.name = "max-degree",
     .summary = "1 / (1 + the largest degree) on every edge",
     .make = max_degree,
     .compares_graphs = true},
    {.name = "lazy",
     .summary = "half of metropolis: no eigenvalue is negative",
     .make = lazy,
     .compares_graphs = true},
    {.name = "best-constant",
     .summary = "one weight for all edges, the best there is; Xiao & Boyd 2004",
     .make = best_constant,
     .compares_graphs = true,
     .lowers_lambda_n = true},
    {.name = "fdla",
     .summary = "the fastest averaging, weights may be negative; Xiao & Boyd 2004",
     .make = fdla_weights,
     .lowers_lambda_n = true},
    {.name = "fmmc",
     .summary = "the fastest averaging without negative weights; Boyd, Diaconis & Xiao 2004",
     .make = fmmc_weights,
     .lowers_lambda_n = true},
    {.name = "edge-list", .summary = "those that came with the graph", .make = edge_list_weights},
};

}  // namespace

std::span<const WeightRule> weight_rules() {
  return rules;
}

const WeightRule* find_weight_rule(std::string_view name) {
  const auto it = std::ranges::find(rules, name, &WeightRule::name);
  return it == std::end(rules) ? nullptr : it;
}

std::vector<std::string> weight_names() {
  std::vector<std::string> names;
  for (const WeightRule& rule : rules) names.emplace_back(rule.name);
  return names;
}

MixingMatrix mixing_matrix(std::string_view weights, const Topology& t) {
  if (const WeightRule* rule = find_weight_rule(weights)) return rule->make(t);
  constexpr std::string_view file = "file:";
  if (weights.starts_with(file))
    return bounded(read_matrix(std::string(weights.substr(file.size())), t));
  std::string known;
  for (const std::string& name : weight_names()) known += name + ", ";
  throw std::invalid_argument("unknown weights `" + std::string(weights) + "`: " + known +
                              "or file:PATH");
}

}  // namespace gv
