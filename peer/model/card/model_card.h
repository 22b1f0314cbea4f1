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

/// The kind of a model whose layers only the program knows that has trained it.
inline constexpr const char* program_model = "program";

/// The description in a saved model: all that is needed to use it without the fleet that made it.
struct ModelCard {
  std::string fleet;    ///< its name
  std::string version;  ///< of the program
  std::string digest;   ///< of the fleet
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::optional<std::uint32_t> peer{};  ///< whose local model it is; none: the mean of all
  ModelSpec model;
  std::string data;  ///< its kind
  /// Everything of the training data but the samples: features, classes, how pictures are scaled,
  /// the vocabulary of a text, columns and classes by name. None: of the quadratic.
  std::shared_ptr<const Dataset> like{};
  MissingValue missing = MissingValue::refuse;
  std::uint64_t train_samples = 0, test_samples = 0;
  std::string train_digest{}, test_digest{};  ///< see data_digest
};

/// Returns what a safetensors file takes: JSON by key. `layers` says how the network computes, for
/// readers other than this program. A table's columns are left out where they take more than 8 MiB.
std::map<std::string, std::string> card_metadata(const ModelCard& card);

/// Nothing of it is believed: every number has a bound, every name is printable. Throws
/// std::runtime_error "path: what is wrong, and what to do".
ModelCard read_card(const std::string& path, const std::map<std::string, std::string>& metadata);

/// The names of the classes; where the data have none, their numbers.
std::vector<std::string> class_names(const Dataset& like);

}  // namespace gv
