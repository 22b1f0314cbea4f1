#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gv {

struct TuningTrial {
  double value = 0;             ///< of the knob
  std::optional<double> score;  ///< the lower the better; none: it missed the target or diverged
  std::string note;             ///< of the tooltip, such as the run's name
  double then = 0;              ///< of two trials with one score, the lower is the better
};

/// The trials of one method over one knob.
struct Tuning {
  std::string method, knob, score_title;
  std::vector<TuningTrial> trials;
  std::map<std::string, std::string> labels = {};  ///< of the sweep's axes
  std::size_t series = 0;                          ///< the method's colour
};

/// A dot per trial, a cross at the top for each that missed; the best is ringed, and a best that is
/// the least or the most tried has that edge shaded and says so: the optimum may lie beyond it.
/// The knob's axis is logarithmic where its values are positive and span more than a factor of
/// five. Empty without trials.
std::string tuning_figure(const Tuning& tuning);

enum class TuningEdge { none, least, most };

/// Returns the edge of the tried range on which the best trial lies; none with fewer than two
/// values, or where one inside the range is as good.
TuningEdge best_at_edge(const Tuning& tuning);

}  // namespace gv
