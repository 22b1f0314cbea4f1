#pragma once

#include <string>
#include <vector>

#include "peer/fleet/keys/key_words.h"

namespace gv {

/// The meaning of a key in one method, model or graph.
struct KeyOfKind {
  std::string kind;  ///< "diloco"
  std::string meaning, takes;
  std::string usual;  ///< empty if the key is needed
};

/// A key of the fleet file, for people. Tests hold the rows to the readers (peer/fleet), both ways:
/// what a reader asks for has a row, and each row's example is read and asks for its key.
struct KeyRow {
  std::string key;      ///< "train.optimizer.lr"; of a list's items "peers.host"
  std::string takes;    ///< values with unit and range
  std::string usual;    ///< without the key; "": there is nothing then, or the key is needed
  std::string meaning;  ///< a sentence or two
  std::string example;  ///< a line of a fleet file
  std::vector<KeyOfKind> kinds{};  ///< the methods, models or graphs with this key
};

/// All keys in the order of the reference: those of peer/fleet/keys, and those that the rows of
/// data kinds, methods, models, graphs and schedules bring.
const std::vector<KeyRow>& fleet_file_keys();

/// Returns the row as one of the reference.
KeyRow row_of(const PlainKey& key);
/// The keys of data: what is common to kinds, and what each kind's row says (peer/fleet/data).
std::vector<KeyRow> data_keys();
/// Options of methods, keys of models, parameters of graphs and schedules, one row for each name.
std::vector<KeyRow> registered_keys();

/// Writes a range as the reference of keys does: "1 to 1,000,000", "0 to 1e9", "1e-6 to 1".
std::string range_text(double least, double most);

}  // namespace gv
