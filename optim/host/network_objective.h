#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/host/host_layer.h"
#include "optim/host/host_network.h"
#include "optim/models/network_builder.h"
#include "optim/models/objective.h"

namespace gv {

/// Softmax cross-entropy of a network on the CPU. Throws std::invalid_argument if the network was
/// made for other data.
///
/// Batch norm with averaged models: running means and variances are not parameters. They are not in
/// x, are not sent and not averaged, so that theorems about averaging hold for all of x. A gradient
/// uses the moments of its own minibatch (Ioffe & Szegedy 2015, arXiv:1502.03167). An evaluation
/// first measures the moments of its own x over a fixed random sample of up to 1,024 of the peer's
/// training rows in batches of 64, and then uses those: "precise" batch norm, Wu & Johnson 2021,
/// arXiv:2105.07576, section 3; a mean of models has no other right moments, Izmailov et al. 2018,
/// arXiv:1803.05407, section 3.2.
std::unique_ptr<Objective> make_network_objective(NeuralNetwork network, Share share);

/// Throws std::invalid_argument unless the network was made for data like these.
void check_fits(const NeuralNetwork& network, const Dataset& data);

/// z (rows x classes, logits) <- (softmax(z) - onehot(label)) / rows, the gradient of the mean
/// cross-entropy by the logits; returns that mean. With `weights`, one for each class, each row of
/// both is multiplied by the weight of its label.
double softmax_cross_entropy(std::span<float> z,
                             std::span<const std::uint8_t> labels,
                             std::size_t classes,
                             std::span<const float> weights = {});

/// Sums over rows, of cross-entropy and of rows whose largest logit is the label's.
struct Score {
  double loss = 0;
  std::uint64_t correct = 0;
};
Score score_logits(std::span<const float> z,
                   std::span<const std::uint8_t> labels,
                   std::size_t classes);

/// A network that only evaluates samples, in chunks and with the bits of every evaluation.
class NetworkForward {
 public:
  explicit NetworkForward(const NeuralNetwork& network);

  /// Returns the moments of each batch norm, in the network's order, for `Moments::given`.
  std::vector<ChannelMoments>& moments() { return host_.moments(); }
  /// Measures the moments of x over these rows of the training set: "precise" batch norm, see
  /// network_objective.h.
  void measure(std::span<const float> x, const Dataset& train, std::span<const std::uint32_t> rows);
  /// Mean loss and accuracy over these rows, which have labels.
  Evaluation evaluate(std::span<const float> x,
                      const Dataset& data,
                      const std::vector<std::uint32_t>& rows);
  /// Calls `take` with the logits [rows][positions][classes] of each chunk, with its first row.
  void logits(std::span<const float> x,
              const Dataset& data,
              const std::vector<std::uint32_t>& rows,
              const std::function<void(std::size_t first, std::span<const float> logits)>& take);

 private:
  void forward(std::span<const float> x,
               const Dataset& data,
               std::span<const std::uint32_t> rows,
               std::size_t first,
               Moments moments);

  NeuralNetwork network_;
  HostNetwork host_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint32_t> chunk_rows_;
};

/// The rows of a share on which its moments are measured; none for a network without batch norm.
std::vector<std::uint32_t> moment_rows(const NeuralNetwork& network, const Share& share);

}  // namespace gv
