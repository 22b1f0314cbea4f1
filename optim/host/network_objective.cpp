#include "optim/host/network_objective.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "optim/data/class_weights.h"
#include "optim/host/cross_entropy.h"
#include "optim/host/host_network.h"
#include "optim/host/network_forward.h"
#include "optim/models/sampled_objective.h"

namespace gv {
namespace {

constexpr std::size_t most_sizes = 8;  ///< of batches whose networks are kept

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
    // A neighbour may hand over samples in parts of any size.
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
  std::span<const float> weights_;     ///< of the classes; empty: all count alike
  std::vector<std::uint32_t> sample_;  ///< of the own rows; empty without batch norm
  std::map<std::uint32_t, std::unique_ptr<HostNetwork>> training_;  ///< by size of the batch
  std::unique_ptr<NetworkForward> evaluation_;
  std::vector<std::uint8_t> labels_;
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

}  // namespace gv
