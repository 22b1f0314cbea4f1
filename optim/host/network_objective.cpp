#include "optim/host/network_objective.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "optim/data/data_facts.h"

namespace gv {
namespace {

constexpr std::size_t most_sizes = 8;  ///< maximum number of kept networks, by size of the batch

class NetworkObjective : public SampledObjective {
 public:
  NetworkObjective(NeuralNetwork network, Share share)
      : SampledObjective(share),
        network_(std::move(network)),
        weights_(class_weights(*train_)),
        sample_(moment_rows(network_, share)) {}

  std::vector<Parameter> parameters() const override { return network_.parameters(); }
  void initialize(std::span<float> x, Rng rng) const override { network_.initialize(x, rng); }

  Evaluation evaluate(std::span<const float> x) override {
    if (!evaluation_) evaluation_ = std::make_unique<NetworkForward>(network_);
    if (!sample_.empty()) evaluation_->measure(x, *train_, sample_);
    return evaluation_->evaluate(x, *test_, test_->evaluation_rows());
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
    // A neighbour may send samples in parts of any size.
    if (training_.size() == most_sizes && !training_.contains(batch)) training_.clear();
    std::unique_ptr<HostNetwork>& made = training_[batch];
    if (!made) made = std::make_unique<HostNetwork>(network_, batch, true);
    gather(data, rows, views, *made);
    made->forward(x, Moments::of_the_batch);
    const double loss = softmax_cross_entropy(made->logits(), labels_, network_.classes, weights_);
    made->backward(x, g);
    return loss;
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

  NeuralNetwork network_;
  std::span<const float> weights_;     ///< by class; empty if all are equal
  std::vector<std::uint32_t> sample_;  ///< subset of its rows; empty without batch norm
  std::map<std::uint32_t, std::unique_ptr<HostNetwork>> training_;  ///< by size of the batch
  std::unique_ptr<NetworkForward> evaluation_;
  std::vector<std::uint8_t> labels_;
};

constexpr std::uint32_t chunk = 64;    ///< rows per chunk
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

void check_fits(const NeuralNetwork& network, const Dataset& data) {
  const bool text = network.vocabulary > 0;
  if (text != data.is_text() || network.input().elements() != data.features ||
      network.classes != data.classes)
    throw std::invalid_argument("a network made for other data");
}

std::unique_ptr<Objective> make_network_objective(NeuralNetwork network, Share share) {
  check_fits(network, *share.train);
  return std::make_unique<NetworkObjective>(std::move(network), std::move(share));
}

double softmax_cross_entropy(std::span<float> z,
                             std::span<const std::uint8_t> labels,
                             std::size_t classes,
                             std::span<const float> weights) {
  const float equal = 1.0F / static_cast<float>(labels.size());
  double loss = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const float weight = weights.empty() ? 1.0F : weights[labels[r]];
    const float share = equal * weight;
    const std::span<float> row = z.subspan(r * classes, classes);
    const float top = *std::ranges::max_element(row);
    const float target = row[labels[r]] - top;
    float sum = 0;
    for (float& value : row) {
      value = std::exp(value - top);
      sum += value;
    }
    loss += static_cast<double>(weight) * static_cast<double>(std::log(sum) - target);
    for (float& value : row) value *= share / sum;
    row[labels[r]] -= share;
  }
  return loss / static_cast<double>(labels.size());
}

Score score_logits(std::span<const float> z,
                   std::span<const std::uint8_t> labels,
                   std::size_t classes) {
  Score score;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = z.subspan(r * classes, classes);
    const auto top = std::ranges::max_element(row);
    if (static_cast<std::size_t>(top - row.begin()) == labels[r]) ++score.correct;
    double sum = 0;
    for (const float value : row) sum += std::exp(static_cast<double>(value - *top));
    score.loss += std::log(sum) - static_cast<double>(row[labels[r]] - *top);
  }
  return score;
}

NetworkForward::NetworkForward(const NeuralNetwork& network)
    : network_(network), host_(network, chunk, false) {}

/// Passes a whole chunk from `first` on; after the last row it starts again at the first.
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
                                     std::span(labels_).first(told), network_.classes);
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
