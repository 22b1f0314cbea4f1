#include <algorithm>
#include <stdexcept>

#include "optim/models/model.h"
#include "optim/models/network_builder.h"

// LeCun, Bottou, Bengio & Haffner 1998, "Gradient-based learning applied to document recognition",
// section II.B: C1 6@5x5, S2, C3 16@5x5, S4, C5 120, F6 84. ReLU after Krizhevsky et al. 2012.

namespace gv {

NeuralNetwork lenet5_network(const Shape& image, std::uint32_t classes) {
  const std::uint32_t side = std::min(image.height, image.width);
  if (side < 12) {
    throw std::invalid_argument("lenet5 needs pictures of at least 12 x 12 pixels, not " +
                                std::to_string(image.height) + " x " + std::to_string(image.width));
  }
  NetworkBuilder build(image, classes);
  const std::uint32_t padding = side < 32 ? 2 : 0;
  std::uint32_t x = build.convolution(0, "conv1", 6, {5, 1, padding}, true);
  x = build.max_pool(build.relu(x), {2, 2});
  x = build.convolution(x, "conv2", 16, {5, 1, 0}, true);
  x = build.max_pool(build.relu(x), {2, 2});
  x = build.relu(build.linear(x, "fc1", 120, true));
  x = build.relu(build.linear(x, "fc2", 84, true));
  build.linear(x, "fc3", classes, true);
  return build.build();
}

ModelRow lenet5_model() {
  return {.kind = "lenet5",
          .summary = "LeNet-5 with ReLU and max pooling, LeCun et al. 1998",
          .fits = {DataForm::pictures},
          .network =
              [](const ModelSpec&, const Dataset& data) {
                return lenet5_network(shape_of(data.image), data.classes);
              },
          .example = "{ kind: lenet5 }"};
}

}  // namespace gv
