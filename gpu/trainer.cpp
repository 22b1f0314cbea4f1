#include "gpu/trainer.h"

#include <algorithm>
#include <utility>

namespace gv::gpu {
namespace {

/// Rows of the test set at a time.
constexpr std::uint32_t test_chunk = 256;
// Moments are measured as optim/network_objective.cpp does, on the same rows in the same batches.
constexpr std::uint32_t moments_chunk = 64;
constexpr std::size_t sampled = 1024;

std::vector<std::uint32_t> sample_of(const Share& share) {
  std::vector<std::uint32_t> rows = share.rows;
  share.rng.derive("moments").shuffle(rows);
  rows.resize(std::min(rows.size(), sampled));
  return rows;
}

/// A data set may take half of what is left on the device.
std::size_t room_for_data() {
  std::size_t free = 0;
  std::size_t total = 0;
  GV_CUDA(cudaMemGetInfo(&free, &total));
  return free / 2;
}

}  // namespace

Trainer::Trainer(const Network& network, Share share, std::uint32_t batch, Kit& kit)
    : kit_(kit),
      batch_(batch),
      test_rows_(share.test->evaluation_rows()),
      sample_(sample_of(share)),
      batches_(std::move(share.rows), share.rng, share.augment),
      network_(network, {batch, test_chunk, moments_chunk}, kit),
      labels_(lines(network_.most_rows()), "the labels of a minibatch"),
      losses_(2 * std::size_t{lines(network_.most_rows())}, "the losses of a minibatch"),
      result_(2, "the loss"),
      host_result_(2, "the loss"),
      train_(std::move(share.train), std::max(batch, moments_chunk), room_for_data()),
      test_(std::move(share.test), test_chunk, room_for_data()) {}

std::uint32_t Trainer::lines(std::uint32_t rows) const {
  return rows * network_.network().positions();
}

Gathered Trainer::gathered() {
  const bool text = network_.network().vocabulary > 0;
  return {.input = text ? nullptr : network_.input(),
          .tokens = text ? network_.tokens() : nullptr,
          .labels = labels_.data()};
}

void Trainer::put_gradient(const float* x, float* g) {
  train_.put(gathered(), kit_.stream);
  network_.forward(x, batch_);
  cross_entropy(network_.logits(),
                labels_.data(),
                lines(batch_),
                network_.network().classes,
                losses_.data(),
                result_.data(),
                kit_.stream);
  network_.backward(x, g, batch_);
  copy_async(host_result_.data(), result_.data(), 1, cudaMemcpyDeviceToHost, kit_.stream);
}

double Trainer::gradient(const float* x, float* g) {
  const std::span<const std::uint32_t> rows = batches_.next(batch_);
  train_.choose(rows, batches_.views());
  if (warm_ && !graph_.recorded()) graph_.record(kit_.stream, [&] { put_gradient(x, g); });
  if (graph_.recorded())
    graph_.launch(kit_.stream);
  else
    put_gradient(x, g);
  kit_.stream.wait();
  warm_ = true;
  return host_result_[0];
}

/// A whole chunk from `first` on; where the rows end they begin again.
std::span<const std::uint32_t> Trainer::around(const std::vector<std::uint32_t>& rows,
                                               std::size_t first,
                                               std::uint32_t count) {
  chunk_.clear();
  for (std::size_t k = 0; k < count; ++k) chunk_.push_back(rows[(first + k) % rows.size()]);
  return chunk_;
}

Moments Trainer::measure_moments(const float* x) {
  std::uint32_t batches = 0;
  if (!network_.has_batch_norm()) return {};
  for (std::size_t first = 0; first < sample_.size(); first += moments_chunk) {
    train_.choose(around(sample_, first, moments_chunk));
    train_.put(gathered(), kit_.stream);
    network_.forward(x, moments_chunk, {Moments::Use::remembered, batches++});
    kit_.stream.wait();
  }
  return {Moments::Use::given, batches};
}

Evaluation Trainer::evaluate(const float* x) {
  const Moments moments = measure_moments(x);
  double loss = 0;
  double correct = 0;
  for (std::size_t first = 0; first < test_rows_.size(); first += test_chunk) {
    const std::size_t left = test_rows_.size() - first;
    const std::uint32_t told =
        lines(static_cast<std::uint32_t>(std::min<std::size_t>(test_chunk, left)));
    test_.choose(around(test_rows_, first, test_chunk));
    test_.put(gathered(), kit_.stream);
    network_.forward(x, test_chunk, moments);
    score(network_.logits(),
          labels_.data(),
          told,
          network_.network().classes,
          losses_.data(),
          result_.data(),
          kit_.stream);
    copy_async(host_result_.data(), result_.data(), 2, cudaMemcpyDeviceToHost, kit_.stream);
    kit_.stream.wait();
    loss += host_result_[0];
    correct += host_result_[1];
  }
  const auto n = static_cast<double>(test_rows_.size() * network_.network().positions());
  return {loss / n, correct / n};
}

double Trainer::gradient_flops() const {
  return network_.network().gradient_flops(batch_);
}

}  // namespace gv::gpu
