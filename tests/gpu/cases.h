#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/models/network.h"
#include "tests/gpu/replica/replicas.h"

// The networks that are trained on both devices, and what on.

namespace gv {

inline TrainTest text_data() {
  auto train = std::make_shared<Dataset>();
  train->context = train->features = 32;
  train->rows = 4000;
  train->classes = 20;
  for (std::uint8_t c = 0; c < 20; ++c)
    train->vocabulary.push_back(static_cast<std::uint8_t>('a' + c));
  Rng rng(5);
  std::uint64_t state = 0;
  for (std::uint32_t k = 0; k < train->rows + train->context; ++k) {
    state = rng.uniform() < 0.8 ? (state * 7 + 3) % 20 : rng.below(20);  // mostly a rule
    train->tokens.push_back(static_cast<std::uint8_t>(state));
  }
  return {train, train};
}

inline Share share_for(const std::string& kind) {
  if (kind != "transformer") {
    Share share = digits_share();
    if (kind == "resnet20") share.augment = {.crop = true, .flip = true};
    return share;
  }
  static const TrainTest text = text_data();
  Share share{.train = text.train, .test = text.test, .rows = {}, .rng = Rng(11)};
  for (std::uint32_t r = 0; r < 4000; ++r) share.rows.push_back(r);
  return share;
}

struct Case {
  std::string name;
  ModelSpec model;
  /// With gelu in the place of relu. A relu opens or closes by the last bit of its input, and the
  /// gradient of every layer below jumps: of a million inputs about the size of 1 that differ by
  /// 1e-6, one changes its side, which is 1e-3 of the gradient's norm. So a deep network of relus
  /// cannot tell a wrong layer from rounding; the same network without jumps can.
  bool smooth = false;

  NeuralNetwork network() const {
    NeuralNetwork network = make_network(model, *share_for(model.kind).train);
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
    all.push_back({kind, model});
  }
  all.push_back({"resnet20", resnet("batch")});
  all.push_back({"resnet20group", resnet("group")});
  all.push_back({"resnet20smooth", resnet("batch"), true});
  all.push_back({"resnet20groupsmooth", resnet("group"), true});
  return all;
}

}  // namespace gv
