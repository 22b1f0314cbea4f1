#include "optim/host/network_forward.h"

#include <algorithm>

#include "optim/host/cross_entropy.h"

namespace gv {
namespace {

constexpr std::uint32_t chunk = 64;    ///< rows that are looked at at a time
constexpr std::size_t sampled = 1024;  ///< rows that moments are measured on

bool has_batch_norm(const NeuralNetwork& network) {
  return std::ranges::any_of(network.nodes,
                             [](const Node& node) { return node.op == Op::batch_norm; });
}

/// Means over batches of the first two moments; Wu & Johnson 2021, arXiv:2105.07576, equation 2.
class MomentSum {
 public:
  void add(const std::vector<ChannelMoments>& batch) {
    mean_.resize(batch.size());
    square_.resize(batch.size());
    for (std::size_t n = 0; n < batch.size(); ++n) {
      mean_[n].resize(batch[n].mean.size());
      square_[n].resize(batch[n].mean.size());
      for (std::size_t c = 0; c < mean_[n].size(); ++c) {
        const auto mean = static_cast<double>(batch[n].mean[c]);
        mean_[n][c] += mean;
        square_[n][c] += mean * mean + static_cast<double>(batch[n].variance[c]);
      }
    }
    ++batches_;
  }
  void write_to(std::vector<ChannelMoments>& moments) const {
    for (std::size_t n = 0; n < moments.size(); ++n) {
      for (std::size_t c = 0; c < mean_[n].size(); ++c) {
        const double mean = mean_[n][c] / batches_;
        const double variance = square_[n][c] / batches_ - mean * mean;
        moments[n].mean[c] = static_cast<float>(mean);
        moments[n].variance[c] = static_cast<float>(std::max(0.0, variance));
      }
    }
  }

 private:
  std::vector<std::vector<double>> mean_, square_;
  double batches_ = 0;
};

}  // namespace

NetworkForward::NetworkForward(const NeuralNetwork& network)
    : network_(network), host_(network, chunk, false) {}

/// A whole chunk from `first` on; where the rows end they begin again.
void NetworkForward::forward(std::span<const float> x,
                             const Dataset& data,
                             std::span<const std::uint32_t> rows,
                             std::size_t first,
                             Moments moments) {
  chunk_rows_.clear();
  for (std::size_t k = 0; k < chunk; ++k) chunk_rows_.push_back(rows[(first + k) % rows.size()]);
  if (network_.vocabulary > 0) {
    labels_.resize(chunk_rows_.size() * network_.positions());
    data.gather_windows(chunk_rows_, host_.tokens(), labels_);
  } else {
    labels_.clear();
    if (!data.labels.empty())
      for (const std::uint32_t r : chunk_rows_) labels_.push_back(data.labels[r]);
    data.gather(chunk_rows_, host_.inputs());
  }
  host_.forward(x, moments);
}

void NetworkForward::measure(std::span<const float> x,
                             const Dataset& train,
                             std::span<const std::uint32_t> rows) {
  MomentSum sum;
  for (std::size_t first = 0; first < rows.size(); first += chunk) {
    forward(x, train, rows, first, Moments::of_the_batch);
    sum.add(host_.moments());
  }
  sum.write_to(host_.moments());
}

Evaluation NetworkForward::evaluate(std::span<const float> x,
                                    const Dataset& data,
                                    const std::vector<std::uint32_t>& rows) {
  Score total;
  for (std::size_t first = 0; first < rows.size(); first += chunk) {
    const std::size_t count = std::min<std::size_t>(chunk, rows.size() - first);
    forward(x, data, rows, first, Moments::given);
    const std::size_t told = count * network_.positions();
    const Score score = score_logits(host_.logits().first(told * network_.classes),
                                     std::span(labels_).first(told),
                                     network_.classes);
    total.loss += score.loss;
    total.correct += score.correct;
  }
  const auto n = static_cast<double>(rows.size() * network_.positions());
  return {total.loss / n, static_cast<double>(total.correct) / n};
}

void NetworkForward::logits(
    std::span<const float> x,
    const Dataset& data,
    const std::vector<std::uint32_t>& rows,
    const std::function<void(std::size_t first, std::span<const float> logits)>& take) {
  for (std::size_t first = 0; first < rows.size(); first += chunk) {
    const std::size_t count = std::min<std::size_t>(chunk, rows.size() - first);
    forward(x, data, rows, first, Moments::given);
    take(first, host_.logits().first(count * network_.positions() * network_.classes));
  }
}

std::vector<std::uint32_t> moment_rows(const NeuralNetwork& network, const Share& share) {
  if (!has_batch_norm(network)) return {};
  std::vector<std::uint32_t> rows = share.rows;
  share.rng.derive("moments").shuffle(rows);
  rows.resize(std::min(rows.size(), sampled));
  return rows;
}

}  // namespace gv
