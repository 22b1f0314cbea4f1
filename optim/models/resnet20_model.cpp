#include <algorithm>
#include <stdexcept>

#include "optim/models/model.h"
#include "optim/models/network_builder.h"

// He, Zhang, Ren & Sun 2016, "Deep residual learning for image recognition", arXiv:1512.03385,
// section 4.2: 6n + 2 layers, n = 3. Widths 16, 32, 64 on maps of full, half and quarter side.

namespace gv {
namespace {

/// conv-norm-relu-conv-norm, the shortcut, relu: figure 2 of the paper.
class ResidualNetwork {
 public:
  ResidualNetwork(const Shape& image, std::uint32_t classes, Norm norm)
      : build_(image, classes), norm_(norm) {}

  NeuralNetwork build() {
    std::uint32_t x = build_.relu(normed_convolution(0, "conv1", "bn1", 16, 1));
    std::uint32_t width = 16;
    for (int stage = 1; stage <= 3; ++stage, width *= 2) {
      for (int block = 0; block < 3; ++block) {
        const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
        x = residual_block(x, name, width, stage > 1 && block == 0 ? 2 : 1);
      }
    }
    build_.linear(build_.average_pool(x), "fc", build_.classes(), true);
    return build_.build();
  }

 private:
  std::uint32_t residual_block(std::uint32_t x,
                               const std::string& name,
                               std::uint32_t width,
                               std::uint32_t stride) {
    std::uint32_t y = normed_convolution(x, name + ".conv1", name + ".bn1", width, stride);
    y = normed_convolution(build_.relu(y), name + ".conv2", name + ".bn2", width, 1);
    if (stride > 1) x = build_.shortcut(x, width, stride);
    return build_.relu(build_.add(y, x));
  }

  std::uint32_t normed_convolution(std::uint32_t x,
                                   const std::string& convolution,
                                   const std::string& norm,
                                   std::uint32_t width,
                                   std::uint32_t stride) {
    const std::uint32_t y = build_.convolution(x, convolution, width, {3, stride, 1}, false);
    if (norm_ == Norm::batch) return build_.norm(Op::batch_norm, y, norm);
    return build_.norm(Op::group_norm, y, norm, 2);
  }

  NetworkBuilder build_;
  Norm norm_;
};

}  // namespace

NeuralNetwork resnet20_network(const Shape& image, std::uint32_t classes, Norm norm) {
  if (std::min(image.height, image.width) < 5) {
    throw std::invalid_argument("resnet20 needs pictures of at least 5 x 5 pixels, not " +
                                std::to_string(image.height) + " x " + std::to_string(image.width));
  }
  return ResidualNetwork(image, classes, norm).build();
}

ModelRow resnet20_model() {
  return {.kind = "resnet20",
          .summary = "ResNet-20 with option A shortcuts, He et al. 2016",
          .fits = {DataForm::pictures},
          .keys = {{.name = "norm",
                    .usual = "batch",
                    .words = {"batch", "group"},
                    .help = "kind of normalization; group suits data that differ between peers"}},
          .network =
              [](const ModelSpec& spec, const Dataset& data) {
                return resnet20_network(shape_of(data.image), data.classes,
                                        spec.word("norm") == "batch" ? Norm::batch : Norm::group);
              },
          .bench_image = {3, 32, 32},
          .example = "{ kind: resnet20, norm: group }"};
}

}  // namespace gv
