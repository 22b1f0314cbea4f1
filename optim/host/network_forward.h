#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/host/host_layer.h"
#include "optim/host/host_network.h"
#include "optim/models/objective.h"

namespace gv {

/// A network that only looks at samples, in the chunks and with the bits of every evaluation.
class NetworkForward {
 public:
  explicit NetworkForward(const NeuralNetwork& network);

  /// Returns each batch norm's, in the network's order; those that are given by `Moments::given`.
  std::vector<ChannelMoments>& moments() { return host_.moments(); }
  /// Measures the moments of x over these rows of the training set: "precise" batch norm, see
  /// network_objective.h.
  void measure(std::span<const float> x, const Dataset& train, std::span<const std::uint32_t> rows);
  /// Mean loss and accuracy over these rows, which have labels.
  Evaluation evaluate(std::span<const float> x,
                      const Dataset& data,
                      const std::vector<std::uint32_t>& rows);
  /// The logits [rows][positions][classes]; a call of `take` for each chunk, from its first row on.
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

/// The rows, of those of a share, on which its moments are measured; none for a network without
/// batch norm.
std::vector<std::uint32_t> moment_rows(const NeuralNetwork& network, const Share& share);

}  // namespace gv
