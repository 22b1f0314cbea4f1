#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optim/models/model.h"

namespace gv {

/// A weight of a network that is a linear map between two of its inner values: [rows, columns],
/// row-major, from `offset` on in the flat vector. Of a convolution [out, in kernel kernel].
struct HiddenMatrix {
  std::size_t offset = 0;
  std::uint32_t rows = 0, columns = 0;

  std::size_t count() const { return std::size_t{rows} * columns; }
  bool operator==(const HiddenMatrix&) const = default;
};

/// The weights of linear layers and convolutions that neither see the input itself nor make the
/// logits, ascending; those that make queries, keys and values of attention are three. Embeddings,
/// biases, norms, the first and the last layer are none: their gradients are no maps that should
/// stretch all directions alike. Jordan et al. 2024, "Muon: an optimizer for hidden layers in
/// neural networks", kellerjordan.github.io/posts/muon, "Empirical considerations".
std::vector<HiddenMatrix> hidden_matrices(const NeuralNetwork& network);
/// Returns the same of a model for these data; none where the model is no network. Throws
/// std::invalid_argument as model_for does.
std::vector<HiddenMatrix> hidden_matrices(const ModelSpec& model, const Dataset& data);

}  // namespace gv
