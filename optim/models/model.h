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

// The table of models. Each model is a row in a file of its own, *_model.cpp. The reader of fleet
// files, the digest, replicas, benchmarks and lists of models use the row.

using Widths = std::vector<std::uint32_t>;
/// The value of a model's key: a whole number, a nonempty list of whole numbers, or a word.
using ModelValue = std::variant<std::uint32_t, Widths, std::string>;

/// A key under `model` in a fleet file. The fleet's digest holds the value of every key.
struct ModelKey {
  std::string name;
  ModelValue usual;                     ///< default; has the type of all values
  std::uint32_t least = 1, most = 1;    ///< range of a number, and of each in a list
  std::vector<std::string> words = {};  ///< allowed words
  std::string help;
};

/// A model in a fleet file: equal for all peers.
struct ModelSpec {
  std::string kind = "mlp";
  std::map<std::string, ModelValue> values = {};  ///< values of keys not at their default

  // The value of a key, which must be one of the row's, with that type: see check_model.
  std::uint32_t number(const std::string& key) const;
  const Widths& widths(const std::string& key) const;
  const std::string& word(const std::string& key) const;
};

/// The forms of data that a model can learn from.
enum class DataForm : std::uint8_t {
  pictures,  ///< with class labels
  rows,      ///< features, with class labels
  text,
  sparse,   ///< rows with few nonzero features, in two classes
  targets,  ///< rows of features with real targets
  oracle,   ///< no samples: the gradient of a function, with noise
};
DataForm form_of(const Dataset& data);

/// A reason why a combination of values is invalid although each is in its range.
struct ModelObjection {
  std::string key;  ///< the key to report
  std::string what;
  std::string help;
};

struct ModelRow {
  std::string kind;
  std::string summary;
  std::vector<DataForm> fits;
  std::vector<ModelKey> keys = {};
  /// Makes its layers for data that fit. Throws std::invalid_argument, for example for pictures
  /// that are too small. A model that is not a network has its arithmetic in an Objective and
  /// trains only on the CPU.
  NeuralNetwork (*network)(const ModelSpec& spec, const Dataset& data) = nullptr;
  std::unique_ptr<Objective> (*objective)(Share share) = nullptr;
  std::optional<ModelObjection> (*object)(const ModelSpec& spec) = nullptr;
  ImageShape bench_image{1, 28, 28};  ///< shape of the pictures in `bench step`
  std::string example;                ///< `model` in a fleet file, with each key

  bool fits_to(DataForm form) const;
};

/// The table; the first model that fits the data is the default.
const std::vector<ModelRow>& models();
/// Throws std::invalid_argument for an unknown kind.
const ModelRow& find_model(const std::string& kind);

/// Throws std::invalid_argument if the kind is unknown, or a value has an unknown key or is out of
/// range.
void check_model(const ModelSpec& spec);

/// "mlp hidden=256,128": the kind and the value of every key, whether it was given or not. The
/// model's part of the fleet's digest.
std::string to_string(const ModelSpec& spec);

/// The row of a model that learns from these data. Throws std::invalid_argument for an invalid spec
/// and for data that do not fit.
const ModelRow& model_for(const ModelSpec& spec, const Dataset& data);
/// The network of a model for these data. Throws like model_for, and for a model that is not a
/// network.
NeuralNetwork make_network(const ModelSpec& spec, const Dataset& data);

/// A weight of a network that is a linear map between two of its inner values: [rows, columns],
/// row-major, from `offset` on in the flat vector. For a convolution [out, in kernel kernel].
struct HiddenMatrix {
  std::size_t offset = 0;
  std::uint32_t rows = 0, columns = 0;

  std::size_t count() const { return std::size_t{rows} * columns; }
  bool operator==(const HiddenMatrix&) const = default;
};

/// The weights of linear layers and convolutions that neither read the input nor make the logits,
/// ascending; those of queries, keys and values of attention are three. Embeddings, biases, norms,
/// the first and the last layer are excluded: their gradients are not maps that should stretch all
/// directions equally. Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural
/// networks", kellerjordan.github.io/posts/muon, "Empirical considerations".
std::vector<HiddenMatrix> hidden_matrices(const NeuralNetwork& network);
/// Returns the hidden matrices of a model for these data; none if the model is not a network.
/// Throws std::invalid_argument like model_for.
std::vector<HiddenMatrix> hidden_matrices(const ModelSpec& model, const Dataset& data);

}  // namespace gv
