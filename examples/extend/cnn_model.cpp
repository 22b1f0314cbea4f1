#include <algorithm>
#include <stdexcept>

#include "optim/models/model.h"
#include "optim/models/network_builder.h"

// McMahan, Moore, Ramage, Hampson & Aguera y Arcas 2017, "Communication-efficient learning of deep
// networks from decentralized data", arXiv:1602.05629, section 3: two convolutions and a hidden
// layer, 1,663,370 parameters for 1 x 28 x 28, ten classes and 32 channels.

namespace gv {
namespace {

NeuralNetwork cnn_network(const ModelSpec& spec, const Dataset& data) {
  const Shape image = shape_of(data.image);
  if (std::min(image.height, image.width) < 4)
    throw std::invalid_argument("cnn needs pictures of at least 4 x 4 pixels");
  const std::uint32_t channels = spec.number("channels");
  NetworkBuilder build(image, data.classes);
  std::uint32_t x = build.convolution(0, "conv1", channels, {5, 1, 2}, true);
  x = build.max_pool(build.relu(x), {2, 2});
  x = build.convolution(x, "conv2", 2 * channels, {5, 1, 2}, true);
  x = build.max_pool(build.relu(x), {2, 2});
  x = build.relu(build.linear(x, "fc1", 512, true));
  build.linear(x, "fc2", data.classes, true);
  return build.build();
}

}  // namespace

ModelRow cnn_model() {
  return {.kind = "cnn",
          .summary = "two convolutions and a hidden layer, McMahan et al. 2017",
          .fits = {DataForm::pictures},
          .keys = {{.name = "channels",
                    .usual = 32U,
                    .least = 1,
                    .most = 1024,
                    .help = "of the first convolution; the second one has twice as many"}},
          .network = cnn_network,
          .example = "{ kind: cnn, channels: 32 }"};
}

}  // namespace gv
