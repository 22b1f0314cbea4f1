#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/file/source.h"
#include "peer/fleet/specs.h"

namespace gv {

/// A key of the fleet file and what it becomes: as `--set` takes it, and where the sweep file says
/// so.
struct SweepSet {
  std::string key;       ///< "network.latency"
  std::string argument;  ///< "network.latency=5 ms"
  Place place;
};

/// One value of an axis: plain, or a named patch of the fleet file.
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

/// Labels by axis; what has one of them on each of these axes is meant.
using CellPattern = std::map<std::string, std::vector<std::string>>;

/// A key that is tuned: between two ends, evenly or evenly in its logarithm, or one of some words.
struct TuningKnob {
  enum class Scale : std::uint8_t { list, lin, log };
  std::string key;
  Scale scale = Scale::list;
  double low = 0;
  double high = 0;
  bool whole = false;              ///< numbers between the ends are rounded
  std::vector<std::string> words;  ///< list
  CellPattern of;                  ///< where it is tuned; empty: everywhere
  Place place;
};

struct TuningSpec {
  std::vector<TuningKnob> knobs;
  /// The trials of a method, the base file's own values included; the most of a grid with ranges.
  std::size_t trials = 8;
  std::string by = "random";  ///< grid | random | halving | asha
  std::size_t seeds = 2;

  /// Most points are tried for a part of a training, and the best of them for longer.
  bool in_rungs() const { return by == "halving" || by == "asha"; }
};

/// The content of the answer's picture (see peer/show/page/answer_picture.h); without one it is a
/// race.
struct SweepPicture {
  bool map = false;  ///< who is first on which network (peer/study/compare/run_map.h); else a cost
  std::string x;     ///< against an axis whose values are numbers, or names with one at the end
  std::string name;  ///< what the numbers are
  std::string y = "time";
  bool model = false;
};

/// A sweep file, read strictly. Paths begin with the file's folder.
struct SweepFile {
  std::string path;  ///< as given
  std::string name;
  std::string base;          ///< fleet file
  bool simulated = true;     ///< in: simulate; else in: run
  std::size_t parallel = 1;  ///< runs at a time, of `in: run`
  std::vector<SweepAxis> axes;
  std::vector<CellPattern> skip;
  std::vector<std::uint64_t> seeds;  ///< empty: counted from the base file's, `seed_count` of them
  std::size_t seed_count = 1;
  std::optional<TuningSpec> tune;
  std::optional<TargetSpec> target;
  std::vector<std::string> expect;  ///< for `compare`
  std::optional<SweepPicture> picture;
  bool keep_models = false;
  std::string output_dir;
};

inline constexpr std::size_t most_sweep_values = 1000;
inline constexpr std::size_t most_sweep_seeds = 1000;
inline constexpr std::size_t most_tuning_trials = 10'000;

/// Reads what `source` holds; problems become its diagnostics.
SweepFile read_sweep_file(Source& source);

/// Returns whether what has these labels is meant by the pattern.
bool matches(const CellPattern& pattern, const std::map<std::string, std::string>& labels);

}  // namespace gv
