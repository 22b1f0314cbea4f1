#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/record/runs/groups.h"
#include "peer/record/runs/peer_totals.h"
#include "peer/record/runs/stored_run.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"

namespace gv {

/// A group as every figure of a report shows it.
struct GroupView {
  const Contender* contender = nullptr;
  std::string name;        ///< without the words of the row's name
  std::size_t series = 0;  ///< equal for equal names in all rows

  const RunGroup& group() const { return *contender->group; }
};

/// Groups that are drawn together, such as those on one network.
struct GroupRow {
  std::string name;  ///< "latency 5 ms, bandwidth 100 Mbit"; empty for a single row
  std::vector<GroupView> groups;
};

/// A row for each section of the comparison.
std::vector<GroupRow> group_rows(const Comparison& comparison);
/// Names of the groups by series; none for at most `most_without` groups, which need no legend.
std::vector<std::pair<std::size_t, std::string>> legend_of(const std::vector<GroupRow>& rows,
                                                           std::size_t most_without);

/// Returns the keys that define sections if the caller gives none: the network, if groups differ in
/// it and in something else; else nothing.
std::vector<std::string> usual_rows(const RunTable& table);

/// The curve of a target's figure.
CurveFigure curve_of_target(const CompareTarget& target);

/// Returns the figure of the race: the target's, else accuracy if the runs have it, else the loss
/// or the return of agents (plain_figure).
CurveFigure raced_figure(const GroupRow& row, const std::optional<CompareTarget>& target);
/// Returns the figure that every run has: the loss, or the return of agents.
CurveFigure plain_figure(const GroupRow& row);

/// A figure per recorded axis: time, bytes, rounds, epochs, frames.
std::vector<Figure> race_figures(const GroupRow& row,
                                 CurveFigure what,
                                 const std::optional<CompareTarget>& target);

/// Shows the learning of a run: accuracy over rounds and time with the local models as a band, and
/// the losses of the mean model and of the local ones. For agents, the returns, also over frames.
std::vector<Figure> learning_figures(const StoredRun& run,
                                     const std::optional<CompareTarget>& target);

/// Consensus distance over rounds, on a logarithmic scale; dashed, the predicted end.
Figure agreement_figure(const GroupRow& row);

/// Returns the x at which the line first reaches the height, also between points, or none.
/// `from_below` is true for lines that rise to it.
std::optional<double> meets(const PlotLine& line, double height, bool from_below);

/// A figure of the page's head, and its name.
using Tile = std::pair<std::string, std::string>;

/// The name that the runs share, or a description of the runs.
std::string title_of(const std::vector<StoredRun>& runs);
/// Describes the runs in one line.
std::string lead_of(const Comparison& comparison);

/// Describes the course of one run.
std::vector<Finding> run_findings(const StoredRun& run);
std::vector<Tile> run_tiles(const StoredRun& run);

/// The verdicts and remarks of `compare`: which contender is first, and why.
std::vector<Finding> compared_findings(const Comparison& comparison);
/// The best of all groups in each measure that has values; with several sections, of the first.
std::vector<Tile> compared_tiles(const Comparison& comparison);

// A figure has no picture if its data was not recorded.

/// Seconds per round of a peer in each state, a bar per group: the mean over its seeds.
Figure group_shares_figure(const GroupRow& row);

// `hosts` is by peer, or empty if all are on one machine; peers have their host's name.

/// Seconds per round of each peer of one run of `rounds` rounds.
Figure peer_shares_figure(const std::vector<PeerTotals>& peers,
                          const std::vector<std::string>& hosts,
                          std::uint64_t rounds);

/// The recorded moments of a peer.
struct LaneMoments {
  std::uint64_t peer = 0;
  std::vector<StoredMoment> moments;
};
/// The moments of the last eight rounds that every peer recorded, with their critical path, in
/// seconds since the first of all moments. `recorded` is in ascending order of number. Peers from
/// `first_actor` on are actors with rounds of their own; their lanes cover the same span of time.
Timeline last_window(const std::vector<LaneMoments>& recorded,
                     const std::vector<std::string>& hosts = {},
                     std::uint64_t first_actor = std::numeric_limits<std::uint64_t>::max());
Figure timeline_of(const Timeline& timeline, const std::string& name);

/// The waits between peers, which are placed as in the topology of this name, or in a circle.
WaitGraph waiting_of(const std::vector<PeerTotals>& peers,
                     const std::vector<std::string>& hosts,
                     const std::string& topology);
Figure waiting_figure(const WaitGraph& waiting, const std::string& name);

/// Shows the age, in rounds, of the models that a peer mixed with.
Figure staleness_figure(const std::vector<PeerTotals>& peers,
                        const std::string& name,
                        std::size_t series = 0);

/// Returns the values that a sweep tried: for each method and each numeric key that differs among
/// its tuning trials, the value against the median over the seeds of the rounds to the target
/// (without a target, 1 minus the final accuracy, or the loss). Empty without such trials.
std::vector<Tuning> tunings_of(const std::vector<StoredRun>& tuned,
                               const std::optional<CompareTarget>& target);

/// Gives each tuning the colour of the group with its labels in the other figures.
void share_colours(std::vector<Tuning>& tunings, const std::vector<GroupRow>& rows);

std::vector<Figure> tuning_figures(const std::vector<Tuning>& tunings);

/// The rounds that a peer recorded.
struct QueueRounds {
  std::uint64_t peer = 0;
  std::vector<StoredRounds> rounds;
};

/// Shows the number of messages waiting at peers that serve and do not train, against time: the
/// maximum of each row of rounds. At most eight servers, those with the longest queues. No picture
/// if no message ever waited.
Figure queue_figure(std::vector<QueueRounds> peers,
                    const std::string& name,
                    std::size_t series = 0);

/// The report of one run or of many. `tuned` has the trials by which their rates were found. Reads
/// more from the runs' folders if a figure needs it (waits between peers, the moments of eight
/// rounds). Throws UnusableRun for damaged files, std::invalid_argument if compare_runs rejects the
/// runs.
RunReport make_report(const std::vector<StoredRun>& runs,
                      const CompareOptions& options,
                      const std::vector<StoredRun>& tuned = {});

}  // namespace gv
