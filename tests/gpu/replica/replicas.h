#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/cuda_replica.h"
#include "optim/host/network_objective.h"
#include "optim/replica/host_replica.h"
#include "tests/gpu/needs_cuda.h"

namespace gv {

/// An implementation of Replica, and why it cannot be tested here; empty if it can.
struct Implementation {
  std::string name;
  bool cuda = false;

  std::string missing() const {
    if (!cuda) return "";
    const CudaStatus status = cuda_status();
    return status.devices.empty() ? "no CUDA device: " + status.problem : "";
  }

  std::unique_ptr<Replica> make(const NeuralNetwork& network,
                                Share share,
                                const OptimizerSpec& optimizer,
                                std::uint32_t batch,
                                Rng init,
                                Precision precision = Precision::fp32) const {
    if (cuda) return make_cuda_replica(network, share, optimizer, batch, init, 0, precision);
    return make_host_replica(make_network_objective(network, std::move(share)), optimizer, batch,
                             init);
  }
  std::unique_ptr<Replica> make(const ModelSpec& model,
                                Share share,
                                const OptimizerSpec& optimizer,
                                std::uint32_t batch,
                                Rng init,
                                Precision precision = Precision::fp32) const {
    const NeuralNetwork network = make_network(model, *share.train);
    return make(network, std::move(share), optimizer, batch, init, precision);
  }
};

inline std::ostream& operator<<(std::ostream& out, const Implementation& implementation) {
  return out << implementation.name;
}

inline const Implementation host{"host", false};
inline const Implementation cuda{"cuda", true};

/// Computes a gradient at x on the next minibatch; returns its loss.
inline double loss_of_gradient(Replica& replica) {
  replica.gradient();
  return replica.loss();
}

inline Evaluation evaluation_of(Replica& replica) {
  replica.evaluate();
  return replica.evaluation();
}

/// Returns the current values of v.
inline std::vector<float> values(const Replica& replica, Vector v = Vector::x) {
  Buffer copy(replica.size() * sizeof(float));
  replica.snapshot(v, {0, replica.size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

inline Payload payload(const std::vector<float>& values) {
  auto buffer = std::make_shared<Buffer>(values.size() * sizeof(float));
  std::ranges::copy(values, buffer->floats().begin());
  return buffer;
}

inline std::vector<float> normal(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  Rng(seed).fill_normal(values);
  return values;
}

/// Returns one peer's share of digits, which are drawn once.
inline Share digits_share(std::uint32_t rows = 200) {
  static const TrainTest digits = draw_digits(512, 300, Rng(7));
  Share share{.train = digits.train, .test = digits.test, .rows = {}, .rng = Rng(11)};
  for (std::uint32_t r = 0; r < rows; ++r) share.rows.push_back(2 * r);
  return share;
}

}  // namespace gv
