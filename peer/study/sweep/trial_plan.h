#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/study/sweep/axes.h"
#include "peer/study/sweep/sweep_file.h"
#include "peer/study/sweep/tuning.h"

namespace gv {

/// The digests of what a trial computes, and when. `bits` is that of bits_of (peer/fleet/digest.h),
/// with the clock in it where a target ends the run; `clock` is over the network and the speeds.
struct TrialIdentity {
  std::string bits;
  std::string clock;
  bool operator==(const TrialIdentity&) const = default;
};
TrialIdentity identity_of(const Fleet& fleet);

/// Points that are tried against each other, rung by rung: those of the sweep file, or those by
/// which --extend widened its ranges.
struct TuningBracket {
  std::vector<TuningPoint> points;
  std::vector<TuningRung> rungs;
  /// Nobody waits until a rung is whole: whoever is among the best third of those that are done is
  /// promoted at once, so that unequal machines stay busy. Each point has a place in each rung, and
  /// most stay empty. Li et al., "A system for massively parallel hyperparameter tuning", MLSys
  /// 2020, arXiv:1810.05934, algorithm 2.
  bool asynchronous = false;

  std::size_t places(std::size_t rung) const {
    return asynchronous ? points.size() : rungs[rung].points;
  }
};

/// Cells that compute the same from the same seed, so that they are tuned together: networks of a
/// synchronous method, as a rule. Others have a family of their own.
struct SweepFamily {
  std::vector<std::size_t> cells;  ///< ascending; tuning trials are of the first
  bool synchronous = true;         ///< tuned for the rounds to the target; else for the seconds
  std::vector<TuningKnob> knobs;   ///< none: nothing to tune
  /// The first holds the base file's own values as its first point, but a grid. None: nothing to
  /// tune.
  std::vector<TuningBracket> brackets;
  std::string label;  ///< "d-psgd alpha 0.1"
};

/// A numbered place for a trial. Of what is still to be found out, the tuned values, it says
/// nothing: so numbers stand from the beginning, and never move.
struct TrialSlot {
  enum class Stage : std::uint8_t { tune, measure };
  std::size_t number = 0;
  Stage stage = Stage::measure;
  std::size_t family = 0;
  std::size_t bracket = 0;  ///< tune
  std::size_t rung = 0;     ///< tune
  /// tune: which point of the rung; in the first, and with asha in all, it is the point's number
  std::size_t place = 0;
  std::size_t cell = 0;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> values;  ///< labels, of axes that have several
  std::string key;                            ///< the same in every version of the file
  std::string folder;                         ///< "0007-one-peer-wifi-s2"
};

/// Everything that is known of a sweep before it starts.
struct SweepPlan {
  SweepFile file;
  Fleet base;
  std::vector<SweepCell> cells;
  std::vector<SweepFamily> families;
  std::vector<std::size_t> family_of;  ///< by cell
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint64_t> tuning_seeds;  ///< never one of those
  std::vector<KnobRanges> extensions;       ///< of --extend, in the order in which they came
  std::vector<TrialSlot> slots;             ///< by number; tuning first, then seed by seed

  /// --set arguments of a cell with a seed; `point` adds the tuned values.
  std::vector<std::string> sets_of(std::size_t cell,
                                   const TuningPoint& point,
                                   std::uint64_t seed) const;
};

inline constexpr std::size_t most_trials = 100'000;

/// Reads a sweep file and its base, and checks every cell. Throws FleetError with all problems.
SweepPlan plan_sweep(const std::string& path, const std::vector<KnobRanges>& extensions = {});

/// "d-psgd wifi": the labels of a cell; of plain values with the last word of their key.
std::string label_of(const SweepPlan& plan, std::size_t cell);

/// Reads the fleets of a sweep's cells, and says what is wrong with them where the sweep file
/// brought it about. What several cells have in common is said once.
class CellCheck {
 public:
  CellCheck(Source& source, const SweepFile& file) : source_(source), file_(file) {}

  /// The fleet of a cell; an empty one after a problem.
  Fleet read(const SweepCell& cell, const TuningPoint& point = {});
  /// Does the same at both ends of what is tuned.
  void check_ends(const SweepCell& cell, const std::vector<TuningKnob>& knobs);

 private:
  void say(const Diagnostic& problem, const SweepCell& cell, const std::vector<SweepSet>& sets);
  Place place_of(const SweepCell& cell) const;

  Source& source_;
  const SweepFile& file_;
  std::set<std::string> said_;
};

/// Arguments for read_fleet.
std::vector<std::string> arguments_of(const std::vector<SweepSet>& sets);

}  // namespace gv
