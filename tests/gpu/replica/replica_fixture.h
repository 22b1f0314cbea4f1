#pragma once

#include <cstdint>
#include <memory>

#include "optim/train/replica.h"
#include "tests/gpu/replica/replicas.h"

// Tests of every Replica against the definition.

namespace gv {

inline ModelSpec mlp(std::uint32_t width) {
  ModelSpec model;
  model.kind = "mlp";
  model.values["hidden"] = Widths{width};
  return model;
}

inline OptimizerSpec momentum_sgd() {
  OptimizerSpec sgd;
  sgd.lr = 0.02;
  sgd.momentum = 0.9;
  sgd.weight_decay = 1e-3;
  return sgd;
}

class ReplicaTest : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(GetParam().missing()); }
  static std::unique_ptr<Replica> make(std::uint32_t width = 20,
                                       const OptimizerSpec& optimizer = momentum_sgd(),
                                       std::uint64_t seed = 3) {
    return GetParam().make(mlp(width), digits_share(), optimizer, 16, Rng(seed));
  }
};

inline Flows random_flows(std::size_t count, std::size_t neighbours) {
  Flows flows;
  for (std::size_t j = 0; j < neighbours; ++j) {
    flows.vectors.push_back(payload(normal(count, 100 + j)));
    flows.weights.push_back(1.0F / static_cast<float>(neighbours + 2 + j));
  }
  return flows;
}

}  // namespace gv
