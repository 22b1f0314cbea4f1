#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optim/models/model.h"
#include "optim/rng.h"
#include "peer/fleet/data/data_spec.h"

// The table of the kinds of data. A kind is a row and stands in one file, *_kind.cpp; whoever reads
// a fleet file, hashes it, explains its keys, loads its data or lists what is held out asks the
// row.

namespace gv {

struct DataReading;

/// The range of a key that is a number, and its value where the file does not say it.
struct NumberRange {
  double usual = 0, least = 0, most = 0;
  bool whole = false;
};

constexpr NumberRange whole_number(double usual, double least, double most) {
  return {.usual = usual, .least = least, .most = most, .whole = true};
}
constexpr NumberRange any_number(double usual, double least, double most) {
  return {.usual = usual, .least = least, .most = most, .whole = false};
}

/// A key under `data`, as one kind understands it: for people, and a number for its reader too.
struct DataKey {
  std::string name;
  std::string takes{};                  ///< in words; of a number what it counts, such as "samples"
  std::string usual{};                  ///< in words; of a number its own
  std::optional<NumberRange> number{};  ///< other keys are read as the row's `read` says
  std::string help{};
  std::string example{};  ///< of `data` in a fleet file; "": another kind's shows the key
  std::string whose{};    ///< instead of the names of many kinds that have it alike
};

/// A validation set of its own, beside a part of the training samples.
struct OwnValidation {
  bool folder = false;  ///< what `validation` names; otherwise a file
  /// The files that say what is in it; null: the one that is named.
  std::vector<std::string> (*files)(const DataSpec& data) = nullptr;
  /// Reads it as the training set was read, by its columns, means and classes.
  std::shared_ptr<const Dataset> (*read)(const DataSpec& data, const Dataset& train) = nullptr;
};

struct DataKind {
  std::string kind;
  DataForm form;        ///< of what a model sees, unless the spec says more
  std::string summary;  ///< "the MNIST family"
  std::vector<DataKey> keys = {};
  /// Reads `keys` into the spec, in the order in which the reference of unknown keys names them.
  void (*read)(DataReading& from) = nullptr;
  /// Its samples are divided among the peers, and some can be set apart: the keys of all such kinds
  /// follow its own. Otherwise `read` reads or refuses them.
  bool divided = true;
  DataForm (*form_of)(const DataSpec& data) = nullptr;  ///< where the spec decides it
  /// The files that all peers must have alike: their content is a part of the fleet's digest.
  std::vector<std::string> (*files)(const DataSpec& data) = nullptr;
  /// Says what decides the samples beside `own` and the fields that every digest holds; null: the
  /// content of files does.
  std::string (*digest)(const DataSpec& data) = nullptr;
  /// Numbers of a sample that every process draws for itself; null: it draws none.
  std::uint64_t (*drawn)(const DataSpec& data) = nullptr;
  /// Reads or draws the sets; null: there are no samples. Throws what readers throw.
  TrainTest (*load)(const DataSpec& data, const Rng& rng) = nullptr;
  std::optional<OwnValidation> validation = {};
  /// The files of the training folder of which the test set is drawn; null, and empty where none
  /// is: what is held out are rows.
  std::vector<std::string> (*held_out)(const DataSpec& data, const Rng& rng) = nullptr;
};

/// The table, in the order of the reference.
const std::vector<DataKind>& data_kinds();
/// Knows `program` too, which no file can ask for. Readers refuse an unknown kind before.
const DataKind& find_data_kind(const std::string& kind);

/// Returns what a model sees of these data.
DataForm form_of(const DataSpec& data);

/// Returns what the fleet's digest holds of these data beside the fields that it holds of all.
std::string digest_text(const DataSpec& data);

/// The keys of drawn sets, `train` and `test`, and behind them those of the kind.
std::vector<DataKey> with_sizes(std::vector<DataKey> keys);

}  // namespace gv
