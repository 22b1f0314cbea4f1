#include "optim/host/network_objective.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "optim/host/cross_entropy.h"
#include "optim/host/host_network.h"
#include "optim/models/sampled_objective.h"

namespace gv {
namespace {

constexpr std::uint32_t chunk = 64;    ///< rows that are evaluated at a time
constexpr std::size_t most_sizes = 8;  ///< of batches whose networks are kept
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

class NetworkObjective : public SampledObjective {
 public:
  NetworkObjective(NeuralNetwork network, Share share)
      : SampledObjective(share), network_(std::move(network)), sample_(sample_of(share)) {}

  std::vector<Parameter> parameters() const override { return network_.parameters(); }
  void initialize(std::span<float> x, Rng rng) const override { network_.initialize(x, rng); }

  Evaluation evaluate(std::span<const float> x) override {
    if (!evaluation_) evaluation_ = std::make_unique<HostNetwork>(network_, chunk, false);
    if (!sample_.empty()) measure_moments(x);
    const std::vector<std::uint32_t> rows = test_->evaluation_rows();
    Score total;
    for (std::size_t first = 0; first < rows.size(); first += chunk) {
      const std::size_t count = std::min<std::size_t>(chunk, rows.size() - first);
      gather(*test_, around(rows, first), {}, *evaluation_);
      evaluation_->forward(x, Moments::given);
      const std::size_t told = count * network_.positions();
      const Score score = score_logits(evaluation_->logits().first(told * network_.classes),
                                       std::span(labels_).first(told),
                                       network_.classes);
      total.loss += score.loss;
      total.correct += score.correct;
    }
    const auto n = static_cast<double>(rows.size() * network_.positions());
    return {total.loss / n, static_cast<double>(total.correct) / n};
  }

  double gradient_flops(std::uint32_t batch) const override {
    return network_.gradient_flops(batch);
  }

 private:
  double gradient(std::span<const float> x,
                  const Dataset& data,
                  std::span<const std::uint32_t> rows,
                  std::span<const View> views,
                  std::span<float> g) override {
    const auto batch = static_cast<std::uint32_t>(rows.size());
    // A neighbour may hand over samples in parts of any size.
    if (training_.size() == most_sizes && !training_.contains(batch)) training_.clear();
    std::unique_ptr<HostNetwork>& made = training_[batch];
    if (!made) made = std::make_unique<HostNetwork>(network_, batch, true);
    gather(data, rows, views, *made);
    made->forward(x, Moments::of_the_batch);
    const double loss = softmax_cross_entropy(made->logits(), labels_, network_.classes);
    made->backward(x, g);
    return loss;
  }

  std::vector<std::uint32_t> sample_of(const Share& share) const {
    if (!has_batch_norm(network_)) return {};
    std::vector<std::uint32_t> rows = share.rows;
    share.rng.derive("moments").shuffle(rows);
    rows.resize(std::min(rows.size(), sampled));
    return rows;
  }

  /// A whole chunk from `first` on; where the rows end they begin again.
  std::span<const std::uint32_t> around(const std::vector<std::uint32_t>& rows, std::size_t first) {
    chunk_rows_.clear();
    for (std::size_t k = 0; k < chunk; ++k) chunk_rows_.push_back(rows[(first + k) % rows.size()]);
    return chunk_rows_;
  }

  void gather(const Dataset& data,
              std::span<const std::uint32_t> rows,
              std::span<const View> views,
              HostNetwork& to) {
    if (network_.vocabulary > 0) {
      labels_.resize(rows.size() * network_.positions());
      data.gather_windows(rows, to.tokens(), labels_);
      return;
    }
    labels_.clear();
    for (const std::uint32_t r : rows) labels_.push_back(data.labels[r]);
    data.gather(rows, views, to.inputs());
  }

  void measure_moments(std::span<const float> x) {
    MomentSum sum;
    for (std::size_t first = 0; first < sample_.size(); first += chunk) {
      gather(*train_, around(sample_, first), {}, *evaluation_);
      evaluation_->forward(x, Moments::of_the_batch);
      sum.add(evaluation_->moments());
    }
    sum.write_to(evaluation_->moments());
  }

  NeuralNetwork network_;
  std::vector<std::uint32_t> sample_;  ///< of the own rows; empty without batch norm
  std::map<std::uint32_t, std::unique_ptr<HostNetwork>> training_;  ///< by size of the batch
  std::unique_ptr<HostNetwork> evaluation_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint32_t> chunk_rows_;
};

}  // namespace

std::unique_ptr<Objective> make_network_objective(NeuralNetwork network, Share share) {
  const bool text = network.vocabulary > 0;
  const Dataset& data = *share.train;
  if (text != data.is_text() || network.input().elements() != data.features ||
      network.classes != data.classes)
    throw std::invalid_argument("a network made for other data");
  return std::make_unique<NetworkObjective>(std::move(network), std::move(share));
}

}  // namespace gv
