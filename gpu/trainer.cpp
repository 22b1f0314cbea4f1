#include "gpu/trainer.h"

#include <algorithm>
#include <utility>

namespace gv::gpu {
namespace {

/// Rows of the test set at a time, as on the CPU: batch norm sees the same batches.
constexpr std::uint32_t chunk = 256;

/// Of every pass: a minibatch, a chunk of the test set, its last one.
std::vector<std::uint32_t> row_counts(std::uint32_t batch, std::size_t test_rows) {
  std::vector<std::uint32_t> counts{batch};
  if (test_rows >= chunk) counts.push_back(chunk);
  if (test_rows % chunk > 0) counts.push_back(static_cast<std::uint32_t>(test_rows % chunk));
  return counts;
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
      batches_(std::move(share.rows), share.rng),
      network_(network, row_counts(batch, test_rows_.size()), kit),
      labels_(lines(network_.most_rows()), "the labels of a minibatch"),
      losses_(2 * std::size_t{lines(network_.most_rows())}, "the losses of a minibatch"),
      result_(2, "the loss"),
      host_result_(2, "the loss"),
      train_(std::move(share.train), batch, room_for_data()),
      test_(std::move(share.test), chunk, room_for_data()) {}

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
  train_.choose(batches_.next(batch_));
  if (warm_ && !graph_.recorded()) graph_.record(kit_.stream, [&] { put_gradient(x, g); });
  if (graph_.recorded())
    graph_.launch(kit_.stream);
  else
    put_gradient(x, g);
  kit_.stream.wait();
  warm_ = true;
  return host_result_[0];
}

Evaluation Trainer::evaluate(const float* x) {
  double loss = 0;
  double correct = 0;
  std::size_t told = 0;
  for (std::size_t first = 0; first < test_rows_.size(); first += chunk) {
    const std::size_t count = std::min<std::size_t>(chunk, test_rows_.size() - first);
    const auto rows = static_cast<std::uint32_t>(count);
    test_.choose({test_rows_.data() + first, count});
    test_.put(gathered(), kit_.stream);
    network_.forward(x, rows);
    score(network_.logits(),
          labels_.data(),
          lines(rows),
          network_.network().classes,
          losses_.data(),
          result_.data(),
          kit_.stream);
    copy_async(host_result_.data(), result_.data(), 2, cudaMemcpyDeviceToHost, kit_.stream);
    kit_.stream.wait();
    loss += host_result_[0];
    correct += host_result_[1];
    told += lines(rows);
  }
  const auto n = static_cast<double>(told);
  return {loss / n, correct / n};
}

double Trainer::gradient_flops() const {
  return network_.network().gradient_flops(batch_);
}

}  // namespace gv::gpu
