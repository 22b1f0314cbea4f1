#pragma once

#include "gpu/device_network.h"
#include "gpu/graph.h"
#include "gpu/samples.h"
#include "optim/minibatch.h"
#include "optim/objective.h"

namespace gv::gpu {

/// A network, its data and its minibatches: the device's Objective.
class Trainer {
 public:
  /// Throws std::invalid_argument where model and data do not fit, CudaError where there is no
  /// room.
  Trainer(const Network& network, Share share, std::uint32_t batch, Kit& kit);

  /// g <- gradient at x on the next minibatch; returns its loss when it is done. x and g must stay
  /// where they are: the pass is recorded once.
  double gradient(const float* x, float* g);
  Evaluation evaluate(const float* x);  ///< on the test set
  double gradient_flops() const;

  void save(StateWriter& out) const { batches_.save(out); }
  void restore(StateReader& in) { batches_.restore(in); }

 private:
  void put_gradient(const float* x, float* g);
  Gathered gathered();
  Moments measure_moments(const float* x);
  std::uint32_t lines(std::uint32_t rows) const;
  std::span<const std::uint32_t> around(const std::vector<std::uint32_t>& rows,
                                        std::size_t first,
                                        std::uint32_t count);

  Kit& kit_;
  std::uint32_t batch_;
  std::vector<std::uint32_t> test_rows_;
  std::vector<std::uint32_t> sample_;  ///< of the own rows, for the moments of batch norm
  Minibatches batches_;
  DeviceNetwork network_;
  DeviceArray<std::uint8_t> labels_;
  DeviceArray<double> losses_;  ///< two for each line
  DeviceArray<double> result_;  ///< the loss; or loss and right answers
  PinnedArray<double> host_result_;
  Samples train_, test_;
  Graph graph_;
  bool warm_ = false;
  std::vector<std::uint32_t> chunk_;
};

}  // namespace gv::gpu
