#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "graph/topologies.h"
#include "peer/record/report/culprits.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/critical_path.h"

namespace gv {
namespace {

constexpr std::size_t window_rounds = 8;

DataTable shares_table(const std::vector<SharesRow>& rows) {
  DataTable table{{""}, {}};
  for (const StateName& state : state_names) table.heads.emplace_back(state.name);
  table.heads.insert(table.heads.end(), {"sum", "hidden wire"});
  for (const SharesRow& row : rows) {
    std::vector<std::string> cells{row.name};
    for (const double seconds : row.seconds) cells.push_back(duration_text(seconds));
    cells.push_back(duration_text(sum(row.seconds)));
    cells.push_back(duration_text(row.hidden_wire));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Figure shares_of(const std::vector<SharesRow>& rows, const std::string& name) {
  Figure figure{.title = name};
  const std::string picture = shares_figure(rows, "a round");
  if (picture.empty()) return figure;
  const auto hidden = [](const SharesRow& row) { return row.hidden_wire > 0; };
  figure.picture = states_legend(std::ranges::any_of(rows, hidden)) + picture;
  figure.numbers = shares_table(rows);
  return figure;
}

/// The mean over a group's runs; nothing if a run recorded no states.
std::optional<SharesRow> group_share(const GroupView& view) {
  SharesRow row{.name = view.name};
  const auto runs = static_cast<double>(view.group().runs.size());
  for (const StoredRun* run : view.group().runs) {
    const MetricsRow& end = run->evaluations.back();
    const double rounds = static_cast<double>(end.round) * static_cast<double>(run->peers);
    if (!end.states || rounds <= 0) return std::nullopt;
    for (std::size_t k = 0; k < n_states; ++k) row.seconds[k] += (*end.states)[k] / rounds / runs;
    row.hidden_wire += end.hidden_wire.value_or(0) / rounds / runs;
  }
  return row;
}

std::string shown_name(const std::vector<std::string>& hosts, std::uint64_t peer) {
  return peer_name(static_cast<PeerId>(peer), hosts);
}

/// Returns whether a time is beyond 30,000 years, which no machine's clock shows.
bool is_no_time(const StoredMoment& m) {
  constexpr double end_of_time = 1e12;
  return !(std::abs(m.begin) < end_of_time && std::abs(m.end) < end_of_time);
}

/// Moves all moments to a clock that begins with the first one. Peers record their machine's clock,
/// which began when the machine was switched on.
std::vector<LaneMoments> since_the_start(std::vector<LaneMoments> peers) {
  double start = std::numeric_limits<double>::infinity();
  for (const LaneMoments& peer : peers)
    for (const StoredMoment& m : peer.moments)
      if (!is_no_time(m)) start = std::min(start, m.begin);
  for (LaneMoments& peer : peers) {
    std::erase_if(peer.moments, is_no_time);
    for (StoredMoment& m : peer.moments) {
      m.begin -= start;
      m.end -= start;
    }
  }
  return peers;
}

/// Returns the rounds that a peer recorded.
std::set<double> rounds_of(const LaneMoments& peer) {
  std::set<double> rounds;
  for (const StoredMoment& m : peer.moments) rounds.insert(m.round);
  return rounds;
}

/// The first of the last consecutive rounds that all peers recorded.
std::vector<double> common_window(const std::vector<LaneMoments>& peers) {
  std::map<double, std::size_t> known;
  for (const LaneMoments& peer : peers)
    for (const double round : rounds_of(peer)) ++known[round];
  std::vector<double> window;
  for (auto at = known.rbegin(); at != known.rend() && window.size() < window_rounds; ++at) {
    if (at->second < peers.size()) {
      if (!window.empty()) break;
      continue;
    }
    if (!window.empty() && at->first + 1 != window.back()) break;
    window.push_back(at->first);
  }
  return window;
}

TimelineLane lane_of(const LaneMoments& peer,
                     const std::vector<std::string>& hosts,
                     const std::set<double>& window) {
  TimelineLane lane{shown_name(hosts, peer.peer), {}};
  for (const StoredMoment& m : peer.moments)
    if (window.contains(m.round)) lane.moments.push_back({m.state, m.begin, m.end});
  std::ranges::stable_sort(lane.moments, {}, &TimelineMoment::begin);
  return lane;
}

/// The moments of an actor between these seconds.
TimelineLane lane_between(const LaneMoments& actor,
                          const std::vector<std::string>& hosts,
                          double begin,
                          double end) {
  TimelineLane lane{shown_name(hosts, actor.peer), {}};
  for (const StoredMoment& m : actor.moments)
    if (m.end > begin && m.begin < end)
      lane.moments.push_back({m.state, std::max(m.begin, begin), std::min(m.end, end)});
  std::ranges::stable_sort(lane.moments, {}, &TimelineMoment::begin);
  return lane;
}

/// Empty if a peer is missing: the waits for that peer are then unknown.
std::vector<CriticalPoint> critical_points(const std::vector<LaneMoments>& peers,
                                           const std::set<double>& window) {
  std::vector<std::vector<StoredMoment>> moments;
  for (const LaneMoments& peer : peers) {
    if (peer.peer != moments.size()) return {};
    auto& mine = moments.emplace_back();
    for (const StoredMoment& m : peer.moments)
      if (window.contains(m.round)) mine.push_back(m);
    std::ranges::stable_sort(mine, {}, &StoredMoment::begin);
  }
  std::vector<CriticalPoint> points;
  for (const CriticalStay& stay : critical_path(moments).chain) {
    points.push_back({stay.peer, stay.begin});
    points.push_back({stay.peer, stay.end});
  }
  return points;
}

DataTable timeline_table(const Timeline& t) {
  std::vector<SharesRow> rows;
  for (const TimelineLane& lane : t.lanes) {
    SharesRow row{.name = lane.name};
    for (const TimelineMoment& m : lane.moments) row.seconds[m.state] += m.end - m.begin;
    rows.push_back(row);
  }
  DataTable table = shares_table(rows);
  table.heads.pop_back();
  for (auto& cells : table.rows) cells.pop_back();
  return table;
}

/// Places the peers as in the usual drawing of the graph; empty for a circle.
std::vector<svg::Point> places_by(const std::string& topology, std::size_t peers) {
  try {
    return layout(parse_topology(topology), static_cast<PeerId>(peers));
  } catch (const std::invalid_argument&) {  // a graph from a file, or one that changes
    return {};
  }
}

DataTable waiting_table(const WaitGraph& w) {
  DataTable table{{"who", "waited for", "late", "wire", "share of its time"}, {}};
  std::vector<Wait> waits = w.waits;
  std::ranges::stable_sort(waits, std::greater{},
                           [](const Wait& wait) { return wait.late + wait.wire; });
  constexpr std::size_t most = 200;
  if (waits.size() > most) waits.resize(most);
  for (const Wait& wait : waits)
    table.rows.push_back(
        {shown_name(w.hosts, wait.who), shown_name(w.hosts, wait.whom), duration_text(wait.late),
         duration_text(wait.wire),
         w.seconds > 0 ? fmt::format("{:.1f} %", 100 * (wait.late + wait.wire) / w.seconds) : "-"});
  return table;
}

/// Bins of the record: 0, 1, 2, 3-4, 5-8, 9-16, ...
std::string bin_name(std::size_t bin) {
  if (bin < 3) return std::to_string(bin);
  const std::uint64_t half = std::uint64_t{1} << std::min<std::size_t>(bin - 2, 62);
  return fmt::format("{}-{}", half + 1, 2 * half);
}

}  // namespace

Figure group_shares_figure(const GroupRow& row) {
  std::vector<SharesRow> rows;
  for (const GroupView& view : row.groups)
    if (const auto share = group_share(view)) rows.push_back(*share);
  return shares_of(rows, "Seconds a round of a peer");
}

Figure peer_shares_figure(const std::vector<PeerTotals>& peers,
                          const std::vector<std::string>& hosts,
                          std::uint64_t rounds) {
  std::vector<SharesRow> rows;
  if (rounds == 0) return shares_of({}, "");
  for (const PeerTotals& peer : peers) {
    SharesRow row{.name = shown_name(hosts, peer.peer)};
    for (std::size_t k = 0; k < n_states; ++k)
      row.seconds[k] = peer.states[k] / static_cast<double>(rounds);
    row.hidden_wire = peer.hidden_wire / static_cast<double>(rounds);
    rows.push_back(row);
  }
  return shares_of(rows, "Seconds a round of each peer");
}

Timeline last_window(const std::vector<LaneMoments>& recorded,
                     const std::vector<std::string>& hosts,
                     std::uint64_t first_actor) {
  std::vector<LaneMoments> peers = since_the_start(recorded);
  const auto is_actor = [=](const LaneMoments& peer) { return peer.peer >= first_actor; };
  const auto acting = std::ranges::stable_partition(peers, std::not_fn(is_actor));
  const std::vector<LaneMoments> actors(acting.begin(), acting.end());
  peers.erase(acting.begin(), acting.end());
  const std::vector<double> rounds = common_window(peers);
  const std::set<double> window(rounds.begin(), rounds.end());
  Timeline t;
  for (const LaneMoments& peer : peers) {
    const std::size_t lane = t.lanes.size();
    std::map<double, double> begins;
    for (const StoredMoment& m : peer.moments)
      if (window.contains(m.round) && m.round >= 0 && m.round < 1e15)
        if (const auto [at, first] = begins.emplace(m.round, m.begin); !first)
          at->second = std::min(at->second, m.begin);
    for (const auto& [round, begin] : begins)
      t.rounds.push_back({lane, static_cast<std::uint64_t>(round), begin});
    t.lanes.push_back(lane_of(peer, hosts, window));
  }
  t.critical = critical_points(peers, window);
  const auto [begin, end] = span_of(t.lanes);
  for (const LaneMoments& actor : actors) t.lanes.push_back(lane_between(actor, hosts, begin, end));
  return t;
}

Figure timeline_of(const Timeline& t, const std::string& name) {
  Figure figure{.title = name, .wide = true};
  const std::string picture = timeline_figure(t);
  if (picture.empty()) return figure;
  const auto [first, last] = std::ranges::minmax(t.rounds, {}, &TimelineRound::round);
  if (name.empty()) figure.title = fmt::format("Rounds {} to {}", first.round, last.round);
  if (t.lanes.size() > most_lanes)
    figure.note = fmt::format("The first {} of {} peers.", most_lanes, t.lanes.size());
  figure.picture = states_legend(false) + picture;
  figure.numbers = timeline_table(t);
  return figure;
}

WaitGraph waiting_of(const std::vector<PeerTotals>& peers,
                     const std::vector<std::string>& hosts,
                     const std::string& topology) {
  WaitGraph w{.hosts = hosts};
  for (const PeerTotals& peer : peers) {
    w.peers = std::max<std::size_t>(w.peers, peer.peer + 1);
    w.seconds += peer.seconds / static_cast<double>(peers.size());
  }
  for (const PeerTotals& peer : peers)
    for (const auto& [whom, waited] : peer.neighbours)
      if (whom < w.peers) w.waits.push_back({peer.peer, whom, waited.late, waited.wire});
  if (w.peers <= most_graph_peers) w.places = places_by(topology, w.peers);
  w.wraps = topology.find("torus") != std::string::npos;
  return w;
}

Figure waiting_figure(const WaitGraph& w, const std::string& name) {
  Figure figure{.title = name.empty() ? "The whole run" : name, .wide = true};
  const std::string matrix = waiting_matrix(w);
  if (matrix.empty()) return figure;
  figure.picture = "<div class=\"pair\">" + waiting_graph(w) + matrix + "</div>";
  figure.numbers = waiting_table(w);
  return figure;
}

Figure staleness_figure(const std::vector<PeerTotals>& peers,
                        const std::string& name,
                        std::size_t series) {
  Figure figure{.title = name.empty() ? "Staleness of what was mixed" : name};
  std::vector<Bar> bars;
  for (const PeerTotals& peer : peers) {
    for (std::size_t k = 0; k < peer.staleness.size(); ++k) {
      if (k == bars.size()) bars.push_back({bin_name(k), 0});
      bars[k].height += peer.staleness[k];
    }
  }
  while (!bars.empty() && bars.back().height <= 0) bars.pop_back();
  if (bars.size() < 2) return figure;  // nothing was ever stale
  figure.picture = bars_figure(bars, "rounds behind", "exchanges", series);
  figure.numbers.heads = {"rounds behind", "exchanges"};
  for (const Bar& bar : bars)
    figure.numbers.rows.push_back({bar.name, fmt::format("{:.0f}", bar.height)});
  return figure;
}

}  // namespace gv
