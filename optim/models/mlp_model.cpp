#include "optim/models/model.h"
#include "optim/models/network_builder.h"

// ReLU layers below a softmax, started as in He, Zhang, Ren & Sun 2015, arXiv:1502.01852, equation
// 10.

namespace gv {

NeuralNetwork mlp_network(const Shape& input, const Widths& hidden, std::uint32_t classes) {
  NetworkBuilder build(input, classes);
  std::uint32_t x = 0;
  std::uint32_t layer = 1;
  for (const std::uint32_t width : hidden)
    x = build.relu(build.linear(x, "fc" + std::to_string(layer++), width, true));
  build.linear(x, "fc" + std::to_string(layer), classes, true);
  return build.build();
}

ModelRow mlp_model() {
  return {.kind = "mlp",
          .summary = "fully connected layers with ReLU, He initialization",
          .fits = {DataForm::pictures, DataForm::rows},
          .keys = {{.name = "hidden",
                    .usual = Widths{256},
                    .least = 1,
                    .most = 1'000'000,
                    .help = "widths of the hidden layers, such as [256, 128]"}},
          .network =
              [](const ModelSpec& spec, const Dataset& data) {
                return mlp_network({.channels = data.features}, spec.widths("hidden"),
                                   data.classes);
              },
          .example = "{ kind: mlp, hidden: [256, 128] }"};
}

}  // namespace gv
