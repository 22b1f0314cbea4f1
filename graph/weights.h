#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// A rule that gives each edge its weight: one line of weights.cpp.
struct WeightRule {
  std::string_view name;     ///< "metropolis"
  std::string_view summary;  ///< one line
  MixingMatrix (*make)(const Topology& t) = nullptr;
  /// True when it is quick on any undirected graph, so that many graphs can be compared with it.
  bool compares_graphs = false;
  /// True when it makes ||W - J|| small by pushing lambda_n towards -1, which lowers the rate up to
  /// which the order lian is stable.
  bool lowers_lambda_n = false;
};
std::span<const WeightRule> weight_rules();

/// Null when there is no rule of this name.
const WeightRule* find_weight_rule(std::string_view name);
/// The names of the rules, without file:PATH.
std::vector<std::string> weight_names();

/// W by the rule's name, or from a file by "file:PATH" (graph/formats/matrix_file.h). The user's
/// own weights may be negative only if repeated averaging stays bounded. Throws
/// std::invalid_argument with the known names, or with what is wrong.
MixingMatrix mixing_matrix(std::string_view weights, const Topology& t);

}  // namespace gv
