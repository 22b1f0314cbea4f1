#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/study/sweep/plan/sweep_file.h"
#include "peer/study/sweep/plan/tuning.h"

namespace gv {

/// The digests of a trial's computation and of its clock. `bits` is bits_of (peer/fleet/digest.h),
/// combined with the clock if a target ends the run; `clock` covers the network and the speeds.
struct TrialIdentity {
  std::string bits;
  std::string clock;
  bool operator==(const TrialIdentity&) const = default;
};
TrialIdentity identity_of(const Fleet& fleet);

/// Points tried against each other, rung by rung: those of the sweep file, or those of an --extend.
struct TuningBracket {
  std::vector<TuningPoint> points;
  std::vector<TuningRung> rungs;
  /// No trial waits until a rung is complete: each of the best third of the finished ones is
  /// promoted at once, so that unequal machines stay busy. Each point has a place in each rung, and
  /// most places stay empty. Li et al., "A system for massively parallel hyperparameter tuning",
  /// MLSys 2020, arXiv:1810.05934, algorithm 2.
  bool asynchronous = false;

  std::size_t places(std::size_t rung) const {
    return asynchronous ? points.size() : rungs[rung].points;
  }
};

/// Cells that compute the same from the same seed and are tuned together: usually the networks of a
/// synchronous method. All other cells have a family of their own.
struct SweepFamily {
  std::vector<std::size_t> cells;  ///< ascending; tuning trials use the first
  bool synchronous = true;         ///< tuned for rounds to the target; else for seconds
  std::vector<TuningKnob> knobs;   ///< none if there is nothing to tune
  /// The first point of the first bracket has the base file's values, except in a grid. None if
  /// there is nothing to tune.
  std::vector<TuningBracket> brackets;
  std::string label;  ///< "d-psgd alpha 0.1"
};

/// A numbered place for a trial. It does not depend on tuned values, which are found later, so
/// numbers are fixed from the beginning.
struct TrialSlot {
  enum class Stage : std::uint8_t { tune, measure };
  std::size_t number = 0;
  Stage stage = Stage::measure;
  std::size_t family = 0;
  std::size_t bracket = 0;  ///< for `tune`
  std::size_t rung = 0;     ///< for `tune`
  /// for `tune`: index in the rung; in the first, and with asha in all rungs, the point's index
  std::size_t place = 0;
  std::size_t cell = 0;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> values;  ///< labels of axes with several values
  std::string key;                            ///< equal in all versions of the file
  std::string folder;                         ///< "0007-one-peer-wifi-s2"
};

/// A sweep's properties before it starts.
struct SweepPlan {
  SweepFile file;
  Fleet base;
  std::vector<SweepCell> cells;
  std::vector<SweepFamily> families;
  std::vector<std::size_t> family_of;  ///< by cell
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint64_t> tuning_seeds;  ///< never one of `seeds`
  std::vector<KnobRanges> extensions;       ///< --extend calls in order
  std::vector<TrialSlot> slots;             ///< by number; tuning first, then seed by seed

  /// Returns the --set arguments of a cell with a seed; `point` adds the tuned values.
  std::vector<std::string> sets_of(std::size_t cell,
                                   const TuningPoint& point,
                                   std::uint64_t seed) const;
};

inline constexpr std::size_t most_trials = 100'000;

/// Reads a sweep file and its base, and checks all cells. Throws FleetError with all problems.
SweepPlan plan_sweep(const std::string& path, const std::vector<KnobRanges>& extensions = {});

/// Returns the labels of a cell: "d-psgd wifi"; plain values follow the last word of their key.
std::string label_of(const SweepPlan& plan, std::size_t cell);

/// Reads the fleets of a sweep's cells, and reports their problems at the cause in the sweep file.
/// Reports a problem common to several cells once.
class CellCheck {
 public:
  CellCheck(Source& source, const SweepFile& file) : source_(source), file_(file) {}

  /// Returns the fleet of a cell; an empty one after a problem.
  Fleet read(const SweepCell& cell, const TuningPoint& point = {});
  /// Checks the cell at both ends of all tuned ranges.
  void check_ends(const SweepCell& cell, const std::vector<TuningKnob>& knobs);

 private:
  void say(const Diagnostic& problem, const SweepCell& cell, const std::vector<SweepSet>& sets);
  Place place_of(const SweepCell& cell) const;

  Source& source_;
  const SweepFile& file_;
  std::set<std::string> said_;
};

}  // namespace gv
