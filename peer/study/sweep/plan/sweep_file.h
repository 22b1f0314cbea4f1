#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/file/source.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/fleet/specs.h"

namespace gv {

/// A setting of a key of the fleet file, as for `--set`, with its place in the sweep file.
struct SweepSet {
  std::string key;       ///< "network.latency"
  std::string argument;  ///< "network.latency=5 ms"
  Place place;

  std::string value() const { return argument.substr(key.size() + 1); }
};

/// One value of an axis: a plain value, or a named patch of the fleet file.
struct SweepValue {
  std::string label;
  std::vector<SweepSet> sets;
  Place place;
};

struct SweepAxis {
  std::string name;
  std::vector<SweepValue> values;
  Place place;
};

/// Labels by axis; matches cells that have one of the given labels on each axis.
using CellPattern = std::map<std::string, std::vector<std::string>>;

/// A key to tune: a range, spaced linearly or logarithmically, or a list of words.
struct TuningKnob {
  enum class Scale : std::uint8_t { list, lin, log };
  std::string key;
  Scale scale = Scale::list;
  double low = 0;
  double high = 0;
  bool whole = false;              ///< whether numbers in the range are rounded
  std::vector<std::string> words;  ///< values of a list
  CellPattern of;                  ///< cells in which it is tuned; all if there is no pattern
  Place place;
};

struct TuningSpec {
  std::vector<TuningKnob> knobs;
  /// Trials per method, including the base file's values; the maximum for a grid with ranges.
  std::size_t trials = 8;
  std::string by = "random";  ///< grid | random | halving | asha
  std::size_t seeds = 2;

  /// Returns whether most points are tried for part of a training, and only the best for longer.
  bool in_rungs() const { return by == "halving" || by == "asha"; }
};

/// The picture for the answer (see peer/show/page/report/svg_file.h): a race if there is no other.
struct SweepPicture {
  std::string x;     ///< axis of the cost, whose values are numbers or names with one at the end
  std::string name;  ///< meaning of the numbers
  std::string y = "time";
  bool model = false;
};

/// A sweep file, read strictly. Paths are relative to the file's folder.
struct SweepFile {
  std::string path;  ///< as given
  std::string name;
  std::string base;          ///< path of the fleet file
  bool simulated = true;     ///< true for `in: simulate`, false for `in: run`
  std::size_t parallel = 1;  ///< simultaneous runs, for `in: run`
  std::vector<SweepAxis> axes;
  std::vector<CellPattern> skip;
  std::vector<std::uint64_t> seeds;  ///< none: `seed_count` seeds from the base file's on
  std::size_t seed_count = 1;
  std::optional<TuningSpec> tune;
  std::optional<TargetSpec> target;
  std::vector<std::string> expect;  ///< expectations for `compare`
  std::optional<SweepPicture> picture;
  bool keep_models = false;
  std::string output_dir;
};

inline constexpr std::size_t most_sweep_values = 1000;
inline constexpr std::size_t most_sweep_seeds = 1000;
inline constexpr std::size_t most_tuning_trials = 10'000;

/// Reads the content of `source` and adds problems to its diagnostics.
SweepFile read_sweep_file(Source& source);

/// Returns the reference rows of a sweep file's keys, each with `sweep.` before its name.
const std::vector<KeyRow>& sweep_file_keys();

/// Returns whether these labels match the pattern.
bool matches(const CellPattern& pattern, const std::map<std::string, std::string>& labels);

/// One combination of values, one per axis.
struct SweepCell {
  std::map<std::string, std::string> labels;  ///< by axis
  std::vector<SweepSet> sets;                 ///< in the order of the axes
};

inline constexpr std::size_t most_sweep_cells = 4096;

/// Reports an error unless the key is a path that the sweep does not set itself.
void check_sweep_key(Source& source, const std::string& key, const Place& place);
/// Returns the settings of a patch of the fleet file, one `--set` per leaf. A map with a `kind` is
/// set as a whole, so that keys of another kind do not remain.
std::vector<SweepSet> sets_of(Source& source, const Value& patch);
/// Formats the value for --set: in YAML's flow style, on one line.
std::string flow_text(const Value& value);

/// Reads `vary`. It is an error if two axes set the same key.
std::vector<SweepAxis> read_axes(Source& source, const Value* vary);
/// Reads { axis: label or [labels] }, with names and labels of `axes`.
CellPattern read_pattern(Source& source, const Value& value, const std::vector<SweepAxis>& axes);

/// Returns the product of the axes without the cells that match `skip`; the last axis changes
/// fastest. Returns nothing if there are too many cells.
std::optional<std::vector<SweepCell>> cells_of(const std::vector<SweepAxis>& axes,
                                               const std::vector<CellPattern>& skip);

}  // namespace gv
