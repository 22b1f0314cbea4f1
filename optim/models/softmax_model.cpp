#include "optim/models/model.h"
#include "optim/models/network_builder.h"

namespace gv {

NeuralNetwork softmax_network(const Shape& input, std::uint32_t classes) {
  NetworkBuilder build(input, classes);
  build.draw(0);
  build.linear(0, "fc", classes, true);
  return build.build();
}

ModelRow softmax_model() {
  return {.kind = "softmax",
          .summary = "softmax regression, from zero",
          .fits = {DataForm::pictures, DataForm::rows},
          .network =
              [](const ModelSpec&, const Dataset& data) {
                return softmax_network({.channels = data.features}, data.classes);
              },
          .example = "{ kind: softmax }"};
}

}  // namespace gv
