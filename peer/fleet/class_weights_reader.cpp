#include "peer/fleet/class_weights_reader.h"

#include "optim/data/table/table_plan.h"

namespace gv {
namespace {

constexpr double most_weight = 1e6;
constexpr const char* help = "write `class_weights: balanced`, or `class_weights: { rare: 10 }`";

}  // namespace

ClassWeights read_class_weights(Source& source, const Value* value) {
  ClassWeights weights;
  if (value == nullptr) return weights;
  if (value->kind == Value::Kind::scalar && value->text == "balanced") {
    weights.balanced = true;
    return weights;
  }
  if (value->kind != Value::Kind::map || value->entries.empty() ||
      value->entries.size() > table_bounds::classes) {
    source.error(*value, "expected `balanced`, or a map with a weight for each class", help);
    return weights;
  }
  for (const Value::Entry& entry : value->entries)
    if (const auto weight = read_number(source, entry.value, 0, most_weight))
      weights.named[entry.key] = *weight;
  return weights;
}

}  // namespace gv
