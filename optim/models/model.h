#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/models/network_builder.h"
#include "optim/models/objective.h"

namespace gv {

// The table of models. A model is a row and stands in one file, *_model.cpp; whoever reads a fleet
// file, hashes it, makes a replica, benchmarks or lists models asks the row.

using Widths = std::vector<std::uint32_t>;
/// The value of a model's key: a whole number, a list of them that is not empty, or a word.
using ModelValue = std::variant<std::uint32_t, Widths, std::string>;

/// A key under `model` in a fleet file. The fleet's digest holds the value of every key.
struct ModelKey {
  std::string name;
  ModelValue usual;                     ///< without the key; has the type that every value has
  std::uint32_t least = 1, most = 1;    ///< of a number, and of each in a list
  std::vector<std::string> words = {};  ///< that a word may be
  std::string help;
};

/// A model as a fleet file asks for it: the same for all peers.
struct ModelSpec {
  std::string kind = "mlp";
  std::map<std::string, ModelValue> values = {};  ///< of the keys that are not at their usual value

  // The value of a key. It is one of the row's, and of that type: see check_model.
  std::uint32_t number(const std::string& key) const;
  const Widths& widths(const std::string& key) const;
  const std::string& word(const std::string& key) const;
};

/// The forms of data that a model can learn from.
enum class DataForm : std::uint8_t {
  pictures,  ///< with class labels
  rows,      ///< of features, with class labels
  text,
  sparse,   ///< rows of which few features are not zero, of two classes
  targets,  ///< rows of features with real targets
  oracle,   ///< no samples: the gradient of a function, with noise
};
DataForm form_of(const Dataset& data);

/// A reason why values that are each in range do not go together.
struct ModelObjection {
  std::string key;  ///< to be blamed
  std::string what;
  std::string help;
};

struct ModelRow {
  std::string kind;
  std::string summary;
  std::vector<DataForm> fits;
  std::vector<ModelKey> keys = {};
  /// Its layers for data that fit. Throws std::invalid_argument, as when pictures are too small. A
  /// model that is no network has its arithmetic in an Objective and trains on the CPU only.
  NeuralNetwork (*network)(const ModelSpec& spec, const Dataset& data) = nullptr;
  std::unique_ptr<Objective> (*objective)(Share share) = nullptr;
  std::optional<ModelObjection> (*object)(const ModelSpec& spec) = nullptr;
  ImageShape bench_image{1, 28, 28};  ///< pictures on which `bench step` trains it
  std::string example;                ///< of `model` in a fleet file, with each key

  bool fits_to(DataForm form) const;
};

/// The table; of the models that fit to data the first is the usual one.
const std::vector<ModelRow>& models();
/// Throws std::invalid_argument for an unknown kind.
const ModelRow& find_model(const std::string& kind);

/// Throws std::invalid_argument when the kind is unknown, or a value is none of its keys' or out of
/// range.
void check_model(const ModelSpec& spec);

/// "mlp hidden=256,128": the kind and the value of every key, whether it was given or not. What the
/// fleet's digest holds of the model.
std::string to_string(const ModelSpec& spec);

/// The row of a model that is to learn from these data. Throws std::invalid_argument for a spec
/// that is not valid and for data that do not fit.
const ModelRow& model_for(const ModelSpec& spec, const Dataset& data);
/// The network of a model for these data. Throws like model_for, and for a model that is none.
NeuralNetwork make_network(const ModelSpec& spec, const Dataset& data);

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
