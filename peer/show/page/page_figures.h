#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/topology/family.h"
#include "peer/show/page/graph_page.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/report_page.h"
#include "peer/show/page/svg.h"

namespace gv {

struct Bar {
  std::string name;
  double height = 0;
};

/// Bars over names on a common axis from zero. Empty if all heights are 0.
std::string bars_figure(const std::vector<Bar>& bars,
                        const std::string& x_title,
                        const std::string& y_title,
                        std::size_t series = 0);

/// Draws how fast pure averaging removes a disagreement: the root of disagreement_after, relative
/// to the start, over rounds; one line per topology (slem^k if modes are not known). A circle marks
/// the round with the worst start at a thousandth. Rounds are logarithmic if graphs differ widely.
std::string decay_figure(const std::vector<GraphRow>& rows);

/// The disagreement left after `round` rounds, relative to the start, in the root mean square.
double disagreement_left(const GraphRow& row, double round);

/// One line of a plot. x never decreases. Each y that is not finite leaves a gap in the line.
struct PlotLine {
  std::string name;        ///< at the line's end
  std::size_t series = 0;  ///< its colour and dashes
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  ///< a band around it, at the same x; or empty
  std::optional<double> reached = {};       ///< the x at which the line meets the plot's target
  bool predicted = false;                   ///< not measured: dashed and thin
};

/// Returns the range of a member, such as all y, over the lines.
svg::Range range_of(const std::vector<PlotLine>& lines, std::vector<double> PlotLine::*values);

enum class Quantity { number, seconds, bytes };

struct LinePlot {
  std::string x_title, y_title;
  Quantity x_is = Quantity::number;
  bool log_y = false;
  bool log_x = false;   ///< always logarithmic; every x must be above 0
  bool points = false;  ///< a dot at each measured value, since few values leave the line uncertain
  std::optional<double> target = {};  ///< a height, drawn across the plot
  std::vector<PlotLine> lines = {};
};

/// Lines over a common axis, each with its name at its end, its band if it has one, and a dot at
/// the target. The x axis is logarithmic if a linear one would give the shortest line less than an
/// eighth. Points are joined by straight lines, without smoothing. Empty if no line has a value.
std::string lines_figure(const LinePlot& plot);

/// Maximum number of lines with a style of their own and a name; styles then repeat.
constexpr std::size_t most_named_lines = 12;

/// A figure as predicted before a run and as measured by the run.
struct Ratio {
  std::string name;  ///< such as "seconds a round"
  Quantity unit = Quantity::number;
  double predicted = 0, measured = 0;
};

/// A dot per row at measured / predicted on a logarithmic scale from 0.5 to 2, both values in
/// words. A value outside the scale is an arrow at its border, with the factor in words. Rows
/// without two positive values are left out. Empty if no row remains.
std::string ratio_figure(const std::vector<Ratio>& ratios);

/// The time of a group of runs, or of one peer, by state.
struct SharesRow {
  std::string name;
  StateSeconds seconds{};
  double hidden_wire = 0;  ///< seconds of transfer during computation; not part of the sum
};

/// A bar per row on a common scale of seconds, a segment per state; below it, hatched, the
/// transfers during computation (in figures of up to 24 rows). Up to six rows name their segments.
/// Rows after the first 64 are left out, with a note. Empty if no row has any time.
std::string shares_figure(const std::vector<SharesRow>& rows, const std::string& title);

constexpr std::size_t most_named_rows = 6, most_rows = 64;

/// Draws the eigenvalues of W, a row per topology on the common scale -1 .. 1: bars whose heights
/// are shares of the modes; shaded, the part that only the mean's eigenvalue reaches. For a
/// directed W, draws the moduli of its complex eigenvalues; without modes, only lambda_2, lambda_n
/// and slem.
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

/// The time at which a round of a lane begins.
struct TimelineRound {
  std::size_t lane = 0;
  std::uint64_t round = 0;
  double begin = 0;
};

/// A point of the critical path, which enters this lane at this time.
struct CriticalPoint {
  std::size_t lane = 0;
  double seconds = 0;
};

struct Timeline {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineRound> rounds = {};
  std::vector<CriticalPoint> critical = {};  ///< in ascending order of time; may be empty
};

/// Returns the time from the first moment to the last; empty without moments.
svg::Range span_of(const std::vector<TimelineLane>& lanes);

/// One lane per peer, one path per state. Strokes closer together than a quarter pixel are merged;
/// if more than most_strokes remain, those closer than half a pixel, and so on. Draws only the
/// first most_lanes lanes. Empty if nothing has a length.
std::string timeline_figure(const Timeline& timeline);

constexpr std::size_t most_lanes = 64, most_strokes = 8000;

constexpr PeerId most_drawn_peers = 128;

/// Places in a square of side 1: the lattice of a torus or grid, the levels of a tree, otherwise a
/// circle (with a star's hub in its middle).
std::vector<svg::Point> layout(const TopologySpec& spec, PeerId n);
/// The k-th of n places on the circle in that square, from the top on.
svg::Point circle_place(std::size_t k, std::size_t n);
/// Moves such places into a square picture of this side, with a margin on all sides.
std::vector<svg::Point> in_square(std::vector<svg::Point> places, double side, double margin);

/// The graph, up to most_drawn_peers; for larger graphs, a picture with a sentence instead. An edge
/// across the border of a torus is drawn as two half lines. `series` picks the colour.
std::string topology_figure(const Topology& t, std::size_t series);

struct TuningTrial {
  double value = 0;             ///< value of the knob
  std::optional<double> score;  ///< the lower the better; none if it missed the target or diverged
  std::string note;             ///< tooltip, such as the run's name
  double then = 0;              ///< second criterion for equal scores, the lower the better
};

/// The trials of one method over one knob.
struct Tuning {
  std::string method, knob, score_title;
  std::vector<TuningTrial> trials;
  std::map<std::string, std::string> labels = {};  ///< labels of the sweep's axes
  std::size_t series = 0;                          ///< the method's colour
};

/// A dot per trial, a cross at the top for each that missed, a ring around the best. If the best
/// value is the least or the most tried, that edge is shaded with a note, because the optimum may
/// lie beyond it. The knob's axis is logarithmic if its values are positive and span more than a
/// factor of five. Empty without trials.
std::string tuning_figure(const Tuning& tuning);

enum class EdgeOfRange { none, least, most };

/// Returns the edge of the tried range on which the best trial lies; none if there are fewer than
/// two values, or a trial inside the range is as good.
EdgeOfRange best_at_edge(const Tuning& tuning);

/// The time that one peer waited for another.
struct Wait {
  std::size_t who = 0, whom = 0;
  double late = 0;  ///< seconds before the message was sent
  double wire = 0;  ///< seconds of transfer
};

struct WaitGraph {
  std::size_t peers = 0;
  double seconds = 0;                   ///< wall clock of a peer, the base of shares
  std::vector<Wait> waits = {};         ///< at most one for each ordered pair
  std::vector<svg::Point> places = {};  ///< by peer in a square of side 1; empty for a circle
  std::vector<std::string> hosts = {};  ///< by peer; empty if all are on one machine
  bool wraps = false;  ///< true for a torus: an edge across its border is two half lines
};

/// The graph; the width and colour of each edge show how long both ends wait for each other. Empty
/// beyond most_graph_peers, without a wait, or if a wait has an unknown peer.
std::string waiting_graph(const WaitGraph& waiting);

/// The matrix: rows wait for columns. Beyond 32 peers each cell is the mean of a block of peers.
std::string waiting_matrix(const WaitGraph& waiting);

constexpr std::size_t most_graph_peers = 128, most_matrix_cells = 32;

}  // namespace gv
