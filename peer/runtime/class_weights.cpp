#include "peer/runtime/class_weights.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/data/field.h"
#include "peer/model/card/model_card.h"

namespace gv {
namespace {

/// samples / (classes x samples of the class): all classes weigh alike, and the mean weight is 1.
/// King & Zeng 2001, "Logistic regression in rare events data", equation 15, with equal shares.
std::vector<float> balanced(const Dataset& train) {
  std::vector<std::uint64_t> counts(train.classes);
  for (const std::uint8_t label : train.labels) ++counts[label];
  std::vector<float> weights;
  for (const std::uint64_t count : counts)
    weights.push_back(count == 0 ? 1.0F
                                 : static_cast<float>(static_cast<double>(train.rows) /
                                                      (static_cast<double>(train.classes) *
                                                       static_cast<double>(count))));
  return weights;
}

std::vector<float> named(const ClassWeights& asked, const std::vector<std::string>& classes) {
  std::vector<float> weights(classes.size(), 1.0F);
  std::string unknown;
  for (const auto& [name, weight] : asked.named) {
    const auto at = std::ranges::find(classes, name);
    if (at == classes.end())
      unknown += (unknown.empty() ? "" : ", ") + shown(name);
    else
      weights[static_cast<std::size_t>(at - classes.begin())] = static_cast<float>(weight);
  }
  if (unknown.empty()) return weights;
  std::string known;
  for (const std::string& name : classes)
    if (known.size() < 200) known += (known.empty() ? "" : ", ") + shown(name);
  throw std::runtime_error(
      fmt::format("`train.class_weights` names {}, and the classes are {}", unknown, known));
}

}  // namespace

std::shared_ptr<const Dataset> with_class_weights(const ClassWeights& weights,
                                                  std::shared_ptr<const Dataset> train) {
  if (!weights.any()) return train;
  if (!train || train->labels.empty())
    throw std::runtime_error("`train.class_weights`: the data have no classes; leave it out");
  auto weighted = std::make_shared<Dataset>(*train);
  DataFacts facts = train->facts ? *train->facts : DataFacts{.format = "", .target = ""};
  facts.classes = class_names(*train);
  facts.class_weights = weights.balanced ? balanced(*train) : named(weights, facts.classes);
  weighted->facts = std::make_shared<const DataFacts>(std::move(facts));
  return weighted;
}

}  // namespace gv
