#pragma once

#include <string>
#include <vector>

#include "peer/fleet/keys/key_words.h"

namespace gv {

/// Meaning of a key in one method, model or graph.
struct KeyOfKind {
  std::string kind;  ///< "diloco"
  std::string meaning, takes;
  std::string usual;  ///< default; empty if the key is required
};

/// Reference row of a fleet file's key. Tests compare the rows with the readers (peer/fleet): each
/// key of a reader has a row, and each row's example is valid and makes a reader ask for the key.
struct KeyRow {
  std::string key;                 ///< "train.optimizer.lr"; for a list's items "peers.host"
  std::string takes;               ///< accepted values, with unit and range
  std::string usual;               ///< default; empty if there is none or the key is required
  std::string meaning;             ///< one or two sentences
  std::string example;             ///< line of a fleet file
  std::vector<KeyOfKind> kinds{};  ///< methods, models or graphs with this key
};

/// Returns all keys in the order of the reference: those of peer/fleet/keys, and those in the rows
/// for data kinds, methods, models, graphs and schedules.
const std::vector<KeyRow>& fleet_file_keys();

/// Converts a row to one of the reference.
KeyRow row_of(const PlainKey& key);
/// Returns the keys of data: the common ones, and those of each kind's row (peer/fleet/data).
std::vector<KeyRow> data_keys();
/// Returns options of methods, keys of models, and parameters of graphs and schedules, one row per
/// name.
std::vector<KeyRow> registered_keys();

/// Returns a range as the reference shows it: "1 to 1,000,000", "0 to 1e9", "1e-6 to 1".
std::string range_text(double least, double most);

}  // namespace gv
