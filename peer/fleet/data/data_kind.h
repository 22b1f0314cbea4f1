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

// Table of the kinds of data. Each kind is a row in its own file, *_kind.cpp. Code that reads a
// fleet file, hashes it, explains its keys, loads its data or lists held-out files uses the row.

namespace gv {

struct DataReading;

/// Range and default of a numeric key.
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

/// A key under `data` of one kind: its documentation and, if it is a number, its range.
struct DataKey {
  std::string name;
  std::string takes{};  ///< accepted values; for a number its unit, such as "samples"
  std::string usual{};  ///< default in words; for a number see `number`
  std::optional<NumberRange> number{};  ///< range; the row's `read` reads other keys
  std::string help{};
  std::string example{};  ///< `data` of a fleet file, or "" if another kind's example shows the key
  std::string whose{};    ///< text in place of the names of many kinds with this key
};

/// A validation set in a file or folder of its own, instead of a part of the training samples.
struct OwnValidation {
  bool folder = false;  ///< `validation` names a folder, not a file
  /// Returns the files that make up the set; null if it is the named file alone.
  std::vector<std::string> (*files)(const DataSpec& data) = nullptr;
  /// Reads the set like the training set, with the same columns, means and classes.
  std::shared_ptr<const Dataset> (*read)(const DataSpec& data, const Dataset& train) = nullptr;
};

struct DataKind {
  std::string kind;
  DataForm form;        ///< form of the samples, unless form_of is set
  std::string summary;  ///< short description, "the MNIST family"
  std::vector<DataKey> keys = {};
  /// Reads `keys` into the spec. The message for unknown keys lists them in this order.
  void (*read)(DataReading& from) = nullptr;
  /// Samples are divided among the peers, and some can be held out: the common keys for this follow
  /// the kind's own. Otherwise `read` reads or refuses these keys.
  bool divided = true;
  DataForm (*form_of)(const DataSpec& data) = nullptr;  ///< set if the form depends on the spec
  /// Returns the files that must be equal at all peers: their content is part of the fleet's
  /// digest.
  std::vector<std::string> (*files)(const DataSpec& data) = nullptr;
  /// Describes what determines the samples besides `own` and the fields in every digest; null if
  /// the content of files does.
  std::string (*digest)(const DataSpec& data) = nullptr;
  /// Returns how many numbers of a sample each process draws; null if it draws none.
  std::uint64_t (*drawn)(const DataSpec& data) = nullptr;
  /// Reads or draws the sets; null if the kind has no samples. Throws what readers throw.
  TrainTest (*load)(const DataSpec& data, const Rng& rng) = nullptr;
  std::optional<OwnValidation> validation = {};
  /// Returns the files of the training folder drawn for the test set; null if rows are held out
  /// instead of files.
  std::vector<std::string> (*held_out)(const DataSpec& data, const Rng& rng) = nullptr;
};

/// Returns the table, in the order of the reference.
const std::vector<DataKind>& data_kinds();
/// Finds a kind, also `program`, which no file can name. Readers have refused unknown kinds.
const DataKind& find_data_kind(const std::string& kind);

/// Returns the form of the samples in `data`, which may depend on the spec.
DataForm form_of(const DataSpec& data);

/// Returns the kind's part of the fleet's digest.
std::string digest_text(const DataSpec& data);

/// Returns the keys of drawn sets, `train` and `test`, followed by `keys`.
std::vector<DataKey> with_sizes(std::vector<DataKey> keys);

}  // namespace gv
