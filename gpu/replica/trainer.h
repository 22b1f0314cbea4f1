#pragma once

#include <functional>

#include "gpu/device/device_memory.h"
#include "gpu/kernels/sample_kernels.h"
#include "gpu/layers/device_network.h"
#include "gpu/replica/step_plan.h"
#include "optim/models/objective.h"

namespace gv::gpu {

/// A network, its data and its minibatches: the Objective on the device.
class Trainer {
 public:
  /// The share's rows use at most room(free bytes) of the device's memory; if they need more they
  /// are streamed. Throws std::invalid_argument if the data do not fit the model, CudaError if
  /// there is no room.
  Trainer(const NeuralNetwork& network,
          Share share,
          std::uint32_t batch,
          DeviceContext& context,
          const std::function<std::size_t(std::size_t)>& room = half);
  static std::size_t half(std::size_t free) { return free / 2; }

  using Work = std::function<void()>;
  /// g <- gradient at x on the next minibatch; returns its loss when it is done. While the device
  /// computes, the minibatch after it is sent. If the driver allows it the pass is recorded, so x
  /// and g must keep their addresses. The recording includes the work that `step` puts into the
  /// context's stream; every call with a `step` must pass an equal one.
  double gradient(const float* x, float* g, const Work& step = nullptr) {
    begin_gradient(x, g, step);
    return end_gradient();
  }
  /// The two halves of gradient(). end_gradient() waits, on any thread; call nothing else of the
  /// trainer before it has returned.
  void begin_gradient(const float* x, float* g, const Work& step = nullptr);
  double end_gradient() const;
  Evaluation evaluate(const float* x);  ///< evaluates on the test set
  double gradient_flops() const;

  void save(StateWriter& out) const { batches_.save(out); }
  void restore(StateReader& in);

 private:
  /// Recorded passes, one per place of a minibatch.
  struct Recording {
    bool ran = false;
    bool refused = false;  ///< whether it cannot be recorded
    CudaGraph graphs[Samples::places];
  };

  /// Runs `work` on the device, from its recording if there is one.
  void run(Recording& recording, const Work& work);
  void put_gradient(const float* x, float* g);
  Gathered gathered();
  /// Sends the rows in chunks of `count`, in order. For each chunk, calls put(first) when it is in
  /// place, and done(first) when the device has done the work of put().
  template <class Put, class Done>
  void in_chunks(Samples& samples,
                 const std::vector<std::uint32_t>& rows,
                 std::uint32_t count,
                 Put put,
                 Done done);
  Moments measure_moments(const float* x);
  std::uint32_t lines(std::uint32_t rows) const;
  LossSums sums() { return {losses_.data(), came_.data(), result_.data()}; }
  std::span<const std::uint32_t> around(const std::vector<std::uint32_t>& rows,
                                        std::size_t first,
                                        std::uint32_t count);

  DeviceContext& context_;
  std::uint32_t batch_;
  std::uint32_t test_chunk_;  ///< number of rows of the test set per pass
  std::vector<std::uint32_t> test_rows_;
  std::vector<std::uint32_t> sample_;  ///< sample of the own rows, for the moments of batch norm
  BatchesAhead batches_;
  DeviceNetwork network_;
  DeviceArray<std::uint8_t> labels_;
  DeviceArray<SumPair> losses_;  ///< sums of each block of lines
  DeviceArray<std::uint32_t> came_;
  DeviceArray<double> result_;  ///< the loss; or loss and number of right answers
  PinnedArray<double> host_result_;
  Samples train_, test_;
  unsigned place_ = 0;  ///< place of the next minibatch in train_
  bool sent_ = false;   ///< whether it was sent
  Recording gradient_, gradient_and_step_;
  Event done_;  ///< end of the gradient begun last, and of its step
  std::vector<std::uint32_t> chunk_;
};

}  // namespace gv::gpu
