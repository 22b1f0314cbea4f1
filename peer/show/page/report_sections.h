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
#include "peer/show/page/figures.h"
#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"

namespace gv {

/// A group as every figure of a report shows it.
struct GroupView {
  const Contender* contender = nullptr;
  std::string name;        ///< without what its row says
  std::size_t series = 0;  ///< the same for the same name in every row

  const RunGroup& group() const { return *contender->group; }
};

/// Groups that are drawn together: those of one network, say.
struct GroupRow {
  std::string name;  ///< "latency 5 ms, bandwidth 100 Mbit"; empty where there is one row
  std::vector<GroupView> groups;
};

/// A row for each section of the comparison.
std::vector<GroupRow> group_rows(const Comparison& comparison);

/// Returns what to tell sections apart by where nobody says it: the network, when groups differ in
/// it and in something else; else nothing.
std::vector<std::string> usual_rows(const RunTable& table);

/// The curve of a target's figure.
CurveFigure curve_of_target(const CompareTarget& target);

/// Returns what the race is about: the target's figure, else accuracy where the runs have one, else
/// the plain figure.
CurveFigure raced_figure(const GroupRow& row, const std::optional<CompareTarget>& target);
/// Returns what every run has: the loss, or of agents the return.
CurveFigure plain_figure(const GroupRow& row);

/// A figure per axis that anybody recorded: time, bytes, rounds, epochs, frames.
std::vector<Figure> race_figures(const GroupRow& row,
                                 CurveFigure what,
                                 const std::optional<CompareTarget>& target);

/// Shows how a run learned: accuracy over rounds and time with the local models as a band, and the
/// losses of the mean model and of the local ones. Of agents their returns, over frames too.
std::vector<Figure> learning_figures(const StoredRun& run,
                                     const std::optional<CompareTarget>& target);

/// Consensus distance over rounds, on a logarithmic scale; dashed, what was predicted of its end.
Figure agreement_figure(const GroupRow& row);

/// Returns where a line that ascends or falls first meets the height, also between points, or none.
std::optional<double> meets(const PlotLine& line, double height, bool from_below);

/// A figure of the page's head, and what it is.
using Tile = std::pair<std::string, std::string>;

/// The name that the runs share, or what they are.
std::string title_of(const std::vector<StoredRun>& runs);
/// Says what was run, in one line.
std::string lead_of(const Comparison& comparison);

/// Says how one run went.
std::vector<Finding> run_findings(const StoredRun& run);
std::vector<Tile> run_tiles(const StoredRun& run);

/// Says who is first, and why: the verdicts and remarks of `compare`.
std::vector<Finding> compared_findings(const Comparison& comparison);
/// The best of all groups in each measure that has one; of several sections, the first of each.
std::vector<Tile> compared_tiles(const Comparison& comparison);

// Each figure has no picture where nobody recorded what it shows.

/// Seconds a round of a peer in each state, a bar per group: the mean over its seeds.
Figure group_shares_figure(const GroupRow& row);

// `hosts`: by peer, or empty where all are on one machine; peers have their host's name.

/// Seconds a round of each peer of one run, which took so many rounds.
Figure peer_shares_figure(const std::vector<PeerTotals>& peers,
                          const std::vector<std::string>& hosts,
                          std::uint64_t rounds);

/// The moments of the last eight rounds that every peer wrote down, with the critical path through
/// them, in seconds since the first moment of all; `recorded`: in ascending order of number. Those
/// from `first_actor` on act for the others, in rounds of their own: of them it is what they did
/// meanwhile.
struct LaneMoments {
  std::uint64_t peer = 0;
  std::vector<StoredMoment> moments;
};
Timeline last_window(const std::vector<LaneMoments>& recorded,
                     const std::vector<std::string>& hosts = {},
                     std::uint64_t first_actor = std::numeric_limits<std::uint64_t>::max());
Figure timeline_of(const Timeline& timeline, const std::string& name);

/// Tells who waited for whom; peers stand as the topology of this name places them, or in a circle.
WaitGraph waiting_of(const std::vector<PeerTotals>& peers,
                     const std::vector<std::string>& hosts,
                     const std::string& topology);
Figure waiting_figure(const WaitGraph& waiting, const std::string& name);

/// Shows how many rounds old the models were that a peer mixed with.
Figure staleness_figure(const std::vector<PeerTotals>& peers, const std::string& name);

/// Returns what a sweep tried to find good values: for each method and each numeric key that
/// differs among its tuning trials, the value against the median over the seeds of the rounds to
/// the target. Where there is no target it is what the accuracy at the end lacks to 1, or the loss.
/// Empty without such trials.
std::vector<Tuning> tunings_of(const std::vector<StoredRun>& tuned,
                               const std::optional<CompareTarget>& target);

/// Gives each the colour that the group of its labels has in the other figures.
void share_colours(std::vector<Tuning>& tunings, const std::vector<GroupRow>& rows);

std::vector<Figure> tuning_figures(const std::vector<Tuning>& tunings);

/// The rounds that a peer wrote down.
struct QueueRounds {
  std::uint64_t peer = 0;
  std::vector<StoredRounds> rounds;
};

/// Shows how many messages waited for those that serve and do not train, against time: the most of
/// each row of rounds. At most eight servers, those with the longest queues. No picture where
/// nothing ever waited.
Figure queue_figure(std::vector<QueueRounds> peers, const std::string& name);

}  // namespace gv
