#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer/record/runs/stored_run.h"

namespace gv {

/// Runs that differ in their seed alone.
struct RunGroup {
  std::map<std::string, std::string> keys;  ///< what they have in common, without the seed
  std::vector<std::string> values;          ///< of RunTable::columns; "" where a key is missing
  std::vector<const StoredRun*> runs;       ///< by seed, each seed once
};

/// All groups, ordered by their values.
struct RunTable {
  std::vector<std::string> columns;  ///< the keys that tell the groups apart, or a sweep's axes
  std::vector<std::string> others;   ///< keys that differ as well, and are not needed for that
  std::vector<RunGroup> groups;
  std::vector<std::string> notes;  ///< what was left out, in sentences
};

/// Returns whether a key is part of what a run is: not its seed, names, folders, or way of launch.
bool tells_runs_apart(const std::string& key);

/// Groups what `runs` says; they must outlive the table. Of two runs with the same keys and seed
/// the later one counts. The order of `runs` changes nothing.
RunTable group_runs(const std::vector<StoredRun>& runs);

/// The columns that `name` means: an axis, a key, or the beginning of keys ("network"). Keys count
/// that do not differ among these runs. Throws std::invalid_argument with what there is.
std::vector<std::string> columns_named(const RunTable& table, const std::string& name);

/// The group's value of a column of `columns_named`; "" when it has none.
std::string value_of(const RunGroup& group, const std::string& column);

/// Returns what people call the group: its values without those of `but`, "d-psgd ring". A number
/// or a flag comes with its key's last word: "lr 0.05".
std::string label_of(const RunTable& table,
                     const RunGroup& group,
                     const std::vector<std::string>& but = {});

}  // namespace gv
