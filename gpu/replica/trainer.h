#pragma once

#include <functional>

#include "gpu/device/cuda_graph.h"
#include "gpu/layers/device_network.h"
#include "gpu/layers/loss.h"
#include "gpu/replica/batches_ahead.h"
#include "gpu/replica/samples.h"
#include "optim/models/objective.h"

namespace gv::gpu {

/// A network, its data and its minibatches: the device's Objective.
class Trainer {
 public:
  /// The share's rows take at most `room` (of the bytes that are free then) of the device; more of
  /// them are streamed. Throws std::invalid_argument where model and data do not fit, CudaError
  /// where there is no room.
  Trainer(const NeuralNetwork& network,
          Share share,
          std::uint32_t batch,
          DeviceContext& context,
          const std::function<std::size_t(std::size_t)>& room = half);
  static std::size_t half(std::size_t free) { return free / 2; }

  using Work = std::function<void()>;
  /// g <- gradient at x on the next minibatch; returns its loss when it is done. While the device
  /// computes, the minibatch after it is sent. x and g must stay where they are: the pass is
  /// recorded where the driver lets it be, and what `step` puts into the context's stream behind
  /// it as well; the same at each call that gives one.
  double gradient(const float* x, float* g, const Work& step = nullptr) {
    begin_gradient(x, g, step);
    return end_gradient();
  }
  /// The two halves of gradient(). The second one waits, on any thread; nothing else of the trainer
  /// is called before it has returned.
  void begin_gradient(const float* x, float* g, const Work& step = nullptr);
  double end_gradient() const;
  Evaluation evaluate(const float* x);  ///< on the test set
  double gradient_flops() const;

  void save(StateWriter& out) const { batches_.save(out); }
  void restore(StateReader& in);

 private:
  /// Recorded passes, one for each place that their minibatch may be in.
  struct Recording {
    bool ran = false;
    bool refused = false;  ///< it cannot be recorded
    CudaGraph graphs[Samples::places];
  };

  /// Gives the device `work`: as it was recorded, or directly where it never was.
  void run(Recording& recording, const Work& work);
  void put_gradient(const float* x, float* g);
  Gathered gathered();
  /// Calls put(first) for each `count` rows from `first` on, in order, when they are in place, and
  /// done(first) when the device has done what it put into the stream.
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
  std::uint32_t test_chunk_;  ///< rows of the test set at a time
  std::vector<std::uint32_t> test_rows_;
  std::vector<std::uint32_t> sample_;  ///< of the own rows, for the moments of batch norm
  BatchesAhead batches_;
  DeviceNetwork network_;
  DeviceArray<std::uint8_t> labels_;
  DeviceArray<SumPair> losses_;  ///< of each block of lines
  DeviceArray<std::uint32_t> came_;
  DeviceArray<double> result_;  ///< the loss; or loss and right answers
  PinnedArray<double> host_result_;
  Samples train_, test_;
  unsigned place_ = 0;  ///< of the next minibatch, in train_
  bool sent_ = false;   ///< it is there, or on its way
  Recording gradient_, gradient_and_step_;
  Event done_;  ///< the gradient that was begun last, and its step
  std::vector<std::uint32_t> chunk_;
};

}  // namespace gv::gpu
