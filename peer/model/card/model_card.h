#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table_plan.h"
#include "optim/models/model.h"

namespace gv {

/// The kind of a model whose layers are known only to the program that trained it.
inline constexpr const char* program_model = "program";

/// The description in a saved model: all that is needed to use it without the fleet that made it.
struct ModelCard {
  std::string fleet;    ///< fleet name
  std::string version;  ///< program version
  std::string digest;   ///< fleet digest
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::optional<std::uint32_t> peer{};  ///< owner of this local model; none for the mean of all
  ModelSpec model;
  std::string data;  ///< kind of data
  /// The training data without its samples: features, classes, scaling of pictures, the
  /// vocabulary of a text, names of columns and classes. None for the quadratic.
  std::shared_ptr<const Dataset> like{};
  MissingValue missing = MissingValue::refuse;
  std::uint64_t train_samples = 0, test_samples = 0;
  std::string train_digest{}, test_digest{};  ///< see data_digest
};

/// Returns the card as metadata of a safetensors file: JSON by key. `layers` describes the
/// network's computation for other readers than this program. A table's columns are left out if
/// they take more than 8 MiB.
std::map<std::string, std::string> card_metadata(const ModelCard& card);

/// Reads a card from untrusted metadata: every number has a bound, every name is printable. Throws
/// std::runtime_error "path: the error, and a remedy".
ModelCard read_card(const std::string& path, const std::map<std::string, std::string>& metadata);

/// The names of the classes; their numbers if the data have no names.
std::vector<std::string> class_names(const Dataset& like);

/// 32 hex digits of XXH3-128 over all samples with their labels, as in memory; independent of file
/// names. "" without a data set.
std::string data_digest(const Dataset* data);

}  // namespace gv
