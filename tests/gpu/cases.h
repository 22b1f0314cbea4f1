#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optim/models/network_builder.h"
#include "tests/gpu/replica/replicas.h"

// Networks that are trained on both devices, and their data.

namespace gv {

/// Returns whether networks of the same kinds learn from smaller pictures and shorter texts, in
/// smaller minibatches and fewer steps (GRAPEVINE_CASES=small): with kernels on the CPU, full sizes
/// take hours and test nothing more.
inline bool small_cases() {
  const char* const value = std::getenv("GRAPEVINE_CASES");
  return value != nullptr && std::string_view(value) == "small";
}

/// Returns the first `rows` pictures, with every `step`-th pixel in both directions.
inline std::shared_ptr<const Dataset> thinned(const Dataset& data,
                                              std::uint32_t rows,
                                              std::uint32_t step) {
  auto thin = std::make_shared<Dataset>(data);
  thin->rows = rows;
  thin->labels.resize(rows);
  thin->bytes = {};
  thin->floats.clear();
  thin->image.height = (data.image.height + step - 1) / step;
  thin->image.width = (data.image.width + step - 1) / step;
  thin->features = thin->image.channels * thin->image.height * thin->image.width;
  const std::uint32_t planes = rows * data.image.channels;
  for (std::uint32_t plane = 0; plane < planes; ++plane)
    for (std::uint32_t y = 0; y < data.image.height; y += step)
      for (std::uint32_t x = 0; x < data.image.width; x += step) {
        const std::size_t at = (std::size_t{plane} * data.image.height + y) * data.image.width + x;
        if (data.floats.empty())
          thin->bytes.own().push_back(data.bytes.data()[at]);
        else
          thin->floats.push_back(data.floats[at]);
      }
  return thin;
}

/// Returns pictures just large enough for the model.
inline Share small_pictures(std::uint32_t step) {
  Share share = digits_share();
  share.train = thinned(*share.train, share.train->rows, step);
  share.test = thinned(*share.test, 100, step);
  return share;
}

inline TrainTest text_data() {
  auto train = std::make_shared<Dataset>();
  train->context = train->features = small_cases() ? 9 : 32;
  train->rows = small_cases() ? 800 : 4000;
  train->classes = 20;
  for (std::uint8_t c = 0; c < 20; ++c)
    train->vocabulary.push_back(static_cast<std::uint8_t>('a' + c));
  Rng rng(5);
  std::uint64_t state = 0;
  for (std::uint32_t k = 0; k < train->rows + train->context; ++k) {
    state = rng.uniform() < 0.8 ? (state * 7 + 3) % 20 : rng.below(20);  // mostly by a rule
    train->tokens.push_back(static_cast<std::uint8_t>(state));
  }
  return {train, train};
}

inline Share share_for(const std::string& kind) {
  if (kind != "transformer") {
    Share share = digits_share();
    if (small_cases() && kind == "lenet5") share = small_pictures(2);
    if (small_cases() && kind == "resnet20") share = small_pictures(5);
    if (kind == "resnet20") share.augment = {.crop = true, .flip = true};
    return share;
  }
  static const TrainTest text = text_data();
  Share share{.train = text.train, .test = text.test, .rows = {}, .rng = Rng(11)};
  for (std::uint32_t r = 0; r < text.train->rows; ++r) share.rows.push_back(r);
  return share;
}

/// Returns ResNet-20's layers, each once or twice instead of nineteen times, and narrower.
inline NeuralNetwork short_resnet(const Shape& image, std::uint32_t classes, Norm norm) {
  NetworkBuilder build(image, classes);
  const auto normed = [&](std::uint32_t x, const std::string& name, std::uint32_t stride) {
    const std::uint32_t y = build.convolution(x, name, 4 * stride, {3, stride, 1}, false);
    if (norm == Norm::batch) return build.norm(Op::batch_norm, y, name + ".norm");
    return build.norm(Op::group_norm, y, name + ".norm", 2);
  };
  const std::uint32_t x = build.relu(normed(0, "conv1", 1));
  // Twice, so that a gradient has shares from two sums.
  const std::uint32_t once = build.add(normed(x, "conv2", 1), x);
  const std::uint32_t same = build.relu(build.add(once, x));
  const std::uint32_t half = normed(same, "conv3", 2);
  const std::uint32_t sum = build.relu(build.add(half, build.shortcut(same, 8, 2)));
  build.linear(build.average_pool(sum), "fc", classes, true);
  return build.build();
}

inline NeuralNetwork network_of(const ModelSpec& model, const Dataset& data) {
  if (!small_cases() || model.kind != "resnet20") return make_network(model, data);
  const Norm norm = model.word("norm") == "group" ? Norm::group : Norm::batch;
  return short_resnet(shape_of(data.image), data.classes, norm);
}

struct Case {
  std::string name;
  ModelSpec model;
  /// Gelu instead of relu. A relu opens or closes by the last bit of its input, and then the
  /// gradient of every layer below jumps: of a million inputs of about the size of 1 that differ by
  /// 1e-6, one changes its side, which is 1e-3 of the gradient's norm. So rounding can hide a wrong
  /// layer in a deep network of relus, but not in the same network without jumps.
  bool smooth = false;

  NeuralNetwork network() const {
    NeuralNetwork network = network_of(model, *share_for(model.kind).train);
    for (Node& node : network.nodes)
      if (smooth && node.op == Op::relu) node.op = Op::gelu;
    return network;
  }
};

inline std::vector<Case> cases() {
  const auto resnet = [](const char* norm) {
    ModelSpec model;
    model.kind = "resnet20";
    model.values["norm"] = norm;
    return model;
  };
  std::vector<Case> all;
  for (const char* kind : {"softmax", "mlp", "lenet5", "transformer"}) {
    ModelSpec model;
    model.kind = kind;
    if (small_cases() && model.kind == "transformer") {
      model.values["width"] = 24U;
      model.values["layers"] = 1U;
    }
    all.push_back({kind, model});
  }
  all.push_back({"resnet20", resnet("batch")});
  all.push_back({"resnet20group", resnet("group")});
  all.push_back({"resnet20smooth", resnet("batch"), true});
  all.push_back({"resnet20groupsmooth", resnet("group"), true});
  return all;
}

}  // namespace gv
