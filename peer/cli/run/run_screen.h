#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "peer/fleet/json/json.h"
#include "peer/launch/launcher/launcher.h"
#include "peer/launch/run/run_writer.h"
#include "peer/record/report/screen.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/show/live/observed_run.h"

namespace gv::cli {

/// Output of a run in progress for people or programs, and its metrics.jsonl.
class Screen {
 public:
  /// `json`: prints lines for programs, not a table. The references must outlive it.
  Screen(const Assembly& fleet, const RunFolder& folder, bool json);

  LaunchScreen callbacks(Feed& feed);
  /// Shows a record, and saves its model if that is the best one and to be saved.
  void record(const FleetRecord& record, const Observer& observer);
  /// Prints on stderr, above the line of progress.
  void say(const std::string& text);
  /// Waits until everything is written, and prints a line if that takes long.
  void finish();

 private:
  /// Duration of the start: files are read for the first time, links speed up.
  static constexpr double first_look_seconds = 10;

  void log(PeerId id, const std::string& line);
  void tell_lost(const LostPeer& lost);
  void tell_troubles();
  void look_for_hold_ups(const FleetState& state);
  void note_event(const Json& event);
  std::optional<double> seconds_left(Round round, double seconds) const;
  std::string progress_text(Round round, double seconds, std::size_t alive) const;

  const Assembly& fleet_;
  const RunFolder& folder_;
  bool json_;
  std::size_t width_;  ///< width of a peer's number
  RunWriter writer_;
  bool loss_rose_ = false;  ///< and this was reported
  ProgressLine progress_;
  std::optional<FleetRecord> latest_;
  double look_at_ = first_look_seconds;  ///< next search for hold-ups, in seconds of the fleet
  LastingHoldUps held_up_by_;
};

/// Figures of a fleet's W, or of its schedule, known before anything runs.
struct MixingFigures {
  std::string text;  ///< one line for people
  std::string name;  ///< name of the graph or the schedule
  double slem = 0;   ///< factor by which disagreement shrinks per round
  double gap = 0;
  Json schedule;  ///< null for a single W
};
MixingFigures mixing_figures(const Assembly& fleet);

/// Returns the number of neighbours to which peer i sends in a round: the mean over a period, or
/// over many rounds of a random schedule.
double mean_receivers(const Assembly& fleet, PeerId i);

}  // namespace gv::cli
