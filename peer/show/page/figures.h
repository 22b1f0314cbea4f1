#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/topology/family.h"
#include "peer/show/page/graph_page.h"
#include "peer/show/page/report_page.h"
#include "peer/show/page/states.h"
#include "peer/show/page/svg.h"
#include "peer/study/compare/first_map.h"

namespace gv {

struct Bar {
  std::string name;
  double height = 0;
};

/// Bars over names on a common axis from zero. Empty where none has a height.
std::string bars_figure(const std::vector<Bar>& bars,
                        const std::string& x_title,
                        const std::string& y_title);

/// Draws how fast pure averaging removes a disagreement: the root of disagreement_after, relative
/// to the start, over rounds; a line per topology (slem^k where modes are not known). A circle
/// marks where the worst start is at a thousandth. Rounds are logarithmic if graphs differ widely.
std::string decay_figure(const std::vector<GraphRow>& rows);

/// The disagreement left after `round` rounds, relative to the start, in the root mean square.
double disagreement_left(const GraphRow& row, double round);

/// One line of a plot. x never falls; where a value is not finite the line has a gap.
struct PlotLine {
  std::string name;        ///< at the line's end
  std::size_t series = 0;  ///< its colour and dashes
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  ///< a band around it, at the same x; or empty
  std::optional<double> reached = {};       ///< the x at which the line meets the plot's target
  bool predicted = false;                   ///< dashed and thin: nobody measured it
};

enum class Quantity { number, seconds, bytes };

struct LinePlot {
  std::string x_title, y_title;
  Quantity x_is = Quantity::number;
  bool log_y = false;
  bool log_x = false;   ///< whatever the lines' lengths; every x is above 0 then
  bool points = false;  ///< a dot at each value that was measured: between few the line is a guess
  std::optional<double> target = {};  ///< a height, drawn across the plot
  std::vector<PlotLine> lines = {};
};

/// Lines over a common axis, each with its name at its end, a band where there is one and a dot
/// where it meets the target. The x axis is logarithmic where the shortest line would be drawn in
/// less than an eighth of it. Points are joined straight and never smoothed. Empty when no line has
/// a value.
std::string lines_figure(const LinePlot& plot);

/// Styles repeat after these many lines; more than this many names are not written.
constexpr std::size_t most_named_lines = 12;

/// Draws who is first where: a cell per network, in the colour and with the letter of its first
/// method; hatched where a method is not known, with both letters where two are close; the networks
/// of the runs as rings.
std::string map_picture(const FirstMap& map);

/// Adds a title, a sentence on how it is read, and the seconds of each network folded.
Figure map_figure(const FirstMap& map);

/// A figure as it was predicted before a run, beside what the run measured.
struct Ratio {
  std::string name;  ///< such as "seconds a round"
  Quantity unit = Quantity::number;
  double predicted = 0, measured = 0;
};

/// A dot per row at measured / predicted on a logarithmic scale from 0.5 to 2, both values in
/// words; what lies outside the scale is an arrow at its border and says how far. Rows without two
/// positive values are left out. Empty when none is left.
std::string ratio_figure(const std::vector<Ratio>& ratios);

/// The time of a group of runs, or of one peer, by where it goes.
struct SharesRow {
  std::string name;
  StateSeconds seconds{};
  double hidden_wire = 0;  ///< seconds on the wire while the peer computed: not part of the sum
};

/// A bar per row on a common scale of seconds, a segment per state; below it, hatched, what the
/// wire did meanwhile (not of more than 24 rows). Up to six rows name their segments; beyond 64 the
/// others are left out and the figure says so. Empty when no row has any time.
std::string shares_figure(const std::vector<SharesRow>& rows, const std::string& title);

constexpr std::size_t most_named_rows = 6, most_rows = 64;

/// Draws where the eigenvalues of W lie, a row per topology on the common scale -1 .. 1: a bar per
/// value, its height the share of modes there; shaded, what no eigenvalue but the mean's reaches. A
/// directed W has complex eigenvalues: their moduli are drawn. Rows without modes: lambda_2,
/// lambda_n and slem only.
std::string spectrum_figure(const std::vector<GraphRow>& rows);

struct TimelineMoment {
  std::size_t state = 0;
  double begin = 0, end = 0;  ///< seconds, on one clock for all lanes
};

/// The moments of one peer, in ascending order of time and without overlaps.
struct TimelineLane {
  std::string name;
  std::vector<TimelineMoment> moments;
};

/// The place where a round of a lane begins.
struct TimelineRound {
  std::size_t lane = 0;
  std::uint64_t round = 0;
  double begin = 0;
};

/// A point of the critical path: at this time the lane had to go on.
struct CriticalPoint {
  std::size_t lane = 0;
  double seconds = 0;
};

struct Timeline {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineRound> rounds = {};
  std::vector<CriticalPoint> critical = {};  ///< in ascending order of time; may be empty
};

/// One lane per peer, one path per state. What lies closer together than a quarter pixel is drawn
/// as one; where more than most_strokes would be left, closer than a half, and so on. The first
/// most_lanes lanes. Empty when nothing has a length.
std::string timeline_figure(const Timeline& timeline);

constexpr std::size_t most_lanes = 64, most_strokes = 8000;

constexpr PeerId most_drawn_peers = 128;

/// Places in a square of side 1: the lattice of a torus or grid, the levels of a tree, the circle
/// of everything else (a star's hub in its middle).
std::vector<svg::Point> layout(const TopologySpec& spec, PeerId n);

/// The graph, up to most_drawn_peers; beyond, a picture that says so. What leaves the border of a
/// torus is drawn as two half lines. `series` picks the colour.
std::string topology_figure(const Topology& t, std::size_t series);

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

enum class EdgeOfRange { none, least, most };

/// Returns the edge of the tried range on which the best trial lies; none with fewer than two
/// values, or where one inside the range is as good.
EdgeOfRange best_at_edge(const Tuning& tuning);

/// The time that one peer waited for another.
struct Wait {
  std::size_t who = 0, whom = 0;
  double late = 0;  ///< seconds in which nothing had been sent yet
  double wire = 0;  ///< seconds in which it was on its way
};

struct WaitGraph {
  std::size_t peers = 0;
  double seconds = 0;                   ///< wall clock of a peer, of which the waits are a share
  std::vector<Wait> waits = {};         ///< at most one for each ordered pair
  std::vector<svg::Point> places = {};  ///< of the peers in a square of side 1, or empty: a circle
  std::vector<std::string> hosts = {};  ///< by peer, or empty: all on one machine
  bool wraps = false;  ///< they stand on a torus: an edge round its border is two half lines
};

/// The graph, each edge as wide and as warm as both its ends wait for each other. Empty beyond
/// most_graph_peers, without a wait, or for a peer that is not there.
std::string waiting_graph(const WaitGraph& waiting);

/// The matrix: rows wait for columns. Beyond 32 peers a cell is a block of them, with their mean.
std::string waiting_matrix(const WaitGraph& waiting);

constexpr std::size_t most_graph_peers = 128, most_matrix_cells = 32;

}  // namespace gv
