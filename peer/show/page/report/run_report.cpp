#include <algorithm>
#include <charconv>
#include <cmath>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report/report_sections.h"

namespace gv {
namespace {

/// Numbers of groups whose figures of one run are shown, and shown folded.
constexpr std::size_t open_groups = 2, folded_groups = 6;
constexpr std::size_t most_listed_runs = 200;
constexpr std::size_t most_queues = 64;

struct Sections {
  ReportSection race{
      "The race",
      "One line per group, the mean of its seeds. A band is the 95 % interval of that mean "
      "(Student's t), or the range of two seeds. A seed that has ended keeps its last value. The "
      "first line to cross the dotted line wins; a dot marks where."};
  ReportSection learning{"Learning curves"};
  ReportSection shares{"Where the time goes",
                       "A peer is in exactly one state at a time, so the segments add up to its "
                       "wall clock, evaluations and checkpoints included."};
  ReportSection timeline{
      "A few rounds",
      "The activity of each peer, on one clock. A thin line begins a round; the thick line is the "
      "critical path, on which the end of the last round depended."};
  ReportSection waiting{"Waiting of each peer for each other",
                        "Wide, warm edges mean that both ends waited long for each other. In the "
                        "matrix the row waits for the column."};
  ReportSection agreement{"Agreement", "Distance between the peers' models."};
  ReportSection ratio{"Prediction and measurement"};
  ReportSection tuning{"Tuning", "Every trial; the best is ringed, a cross missed the target."};
  ReportSection staleness{"Staleness", "Age in rounds of the models that a peer mixed with."};
  ReportSection queue{
      "Queues", "Messages that waited for a server. If its queue grows, all peers wait for it."};
};

/// Adds a figure to the last row, or to a new row if there is none.
void add(ReportSection& section, Figure figure) {
  if (section.rows.empty()) section.rows.emplace_back();
  if (!figure.picture.empty()) section.rows.back().figures.push_back(std::move(figure));
}

/// The first `open_groups` are shown, some more folded, the others left out.
void add_few(ReportSection& section, Figure figure) {
  if (section.rows.empty()) section.rows.emplace_back();
  ReportRow& row = section.rows.back();
  if (figure.picture.empty()) return;
  if (row.figures.size() < open_groups) {
    row.figures.push_back(std::move(figure));
  } else if (row.folded.size() < folded_groups) {
    row.folded.push_back(std::move(figure));
  }
}

bool is_empty(const ReportSection& section) {
  return std::ranges::all_of(section.rows,
                             [](const ReportRow& row) { return row.figures.empty(); });
}

std::string name_in(const GroupRow& row, const GroupView& view) {
  if (row.name.empty()) return view.name;
  return view.name + ", " + row.name;
}

/// Returns the first actor. Actors have the highest numbers.
std::uint64_t first_actor(const StoredRun& run) {
  const auto said = run.keys.find("agent.actors");
  if (said == run.keys.end()) return run.peers;
  std::uint64_t actors = 0;
  std::from_chars(said->second.data(), said->second.data() + said->second.size(), actors);
  return run.peers - std::min(actors, run.peers);
}

/// Adds the data, other than metrics, in the folder of one run of a group.
void add_run_figures(const StoredRun& run,
                     const std::string& name,
                     std::size_t series,
                     Sections& s) {
  const std::vector<PeerTotals> totals = read_peer_totals(run.path);
  if (!totals.empty()) {
    add_few(s.waiting, waiting_figure(waiting_of(totals, run.hosts, run.topology), name));
    add_few(s.staleness, staleness_figure(totals, name, series));
  }
  // Servers have the highest numbers.
  std::vector<QueueRounds> queues;
  for (const PeerTotals& peer :
       totals | std::views::drop(totals.size() - std::min(totals.size(), most_queues)))
    queues.push_back({peer.peer, read_peer_rounds(run.path, peer.peer)});
  add_few(s.queue, queue_figure(std::move(queues), name, series));
  std::vector<LaneMoments> moments;
  for (const PeerTotals& peer : totals)
    if (auto rows = read_peer_moments(run.path, peer.peer); !rows.empty())
      moments.push_back({peer.peer, std::move(rows)});
  add_few(s.timeline, timeline_of(last_window(moments, run.hosts, first_actor(run)), name));
}

void add_ratios(const StoredRun& run, const std::string& name, Sections& s) {
  const auto predicted = read_prediction(run.path);
  if (!predicted) return;
  const MetricsRow& end = run.evaluations.back();
  std::vector<Ratio> ratios;
  if (predicted->losses) {
    const StoredPrediction::Losses& said = *predicted->losses;
    ratios = {{"consensus distance", Quantity::number, said.consensus, end.consensus},
              {"loss of the mean model", Quantity::number, said.mean, end.loss},
              {"loss of local models", Quantity::number, said.local, end.loss_local}};
  }
  if (predicted->round_seconds && end.round > 0)
    ratios.push_back({"seconds of a round", Quantity::seconds, *predicted->round_seconds,
                      clock_of(end) / static_cast<double>(end.round)});
  Figure figure{.title = name.empty() ? "At the end of the run" : name,
                .picture = ratio_figure(ratios)};
  figure.numbers.heads = {"", "predicted", "measured", "measured / predicted"};
  for (const Ratio& r : ratios)
    figure.numbers.rows.push_back({r.name, quantity_text(r.unit, r.predicted),
                                   quantity_text(r.unit, r.measured),
                                   fmt::format("{:.4g}", r.measured / r.predicted)});
  add_few(s.ratio, figure);
}

void add_row(const GroupRow& row,
             const std::optional<CompareTarget>& target,
             bool race,
             Sections& s) {
  if (race) {
    const CurveFigure what = raced_figure(row, target);
    ReportRow lines{row.name, race_figures(row, what, target)};
    const CurveFigure plain = plain_figure(row);
    if (what != plain) lines.folded = race_figures(row, plain, target);
    s.race.rows.push_back(std::move(lines));
  }
  Figure shares = group_shares_figure(row);
  if (!row.name.empty()) shares.title = row.name;
  add(s.shares, std::move(shares));
  Figure agreement = agreement_figure(row);
  if (!row.name.empty()) agreement.title = row.name;
  add(race ? s.agreement : s.learning, std::move(agreement));
}

/// Lists the data that no run recorded, in words.
std::vector<std::string> missing_in(const Sections& s) {
  std::vector<std::string> missing;
  const auto say = [&](const ReportSection& section, const char* words) {
    if (is_empty(section)) missing.emplace_back(words);
  };
  say(s.shares, "the use of time (states)");
  say(s.timeline, "the timeline (moments)");
  say(s.waiting, "the waiting between peers (totals)");
  return missing;
}

/// Adds a note if all runs have one text; otherwise adds it as the table's last column.
void add_column(DataTable& table,
                const char* head,
                const char* words,
                const std::vector<StoredRun>& runs,
                std::string StoredRun::*text,
                std::vector<std::string>& notes) {
  const std::string& first = runs.front().*text;
  if (std::ranges::all_of(runs, [&](const StoredRun& run) { return run.*text == first; })) {
    if (!first.empty()) notes.push_back(words + first);
    return;
  }
  table.heads.emplace_back(head);
  for (std::size_t k = 0; k < table.rows.size(); ++k) table.rows[k].push_back(runs[k].*text);
}

DataTable runs_table(const std::vector<StoredRun>& runs, std::vector<std::string>& notes) {
  const bool act = std::ranges::all_of(
      runs, [](const StoredRun& run) { return run.evaluations.back().frames.has_value(); });
  DataTable table{{"run", "in", "seed", "rounds", "time", act ? "frames" : "accuracy",
                   act ? "return" : "loss", "sent", "began"},
                  {}};
  for (const StoredRun& run : runs) {
    if (table.rows.size() == most_listed_runs) {
      notes.push_back(fmt::format("{} more runs are not listed", runs.size() - most_listed_runs));
      break;
    }
    const MetricsRow& end = run.evaluations.back();
    table.rows.push_back({run.shown, run.simulated ? "simulate" : "run", std::to_string(run.seed),
                          std::to_string(run.rounds), duration_text(clock_of(end)),
                          act            ? quantity_text(Quantity::number, *end.frames)
                          : end.accuracy ? fmt::format("{:.4f}", *end.accuracy)
                                         : "-",
                          fmt::format("{:.5g}", act ? -end.loss : end.loss),
                          quantity_text(Quantity::bytes, end.sent_bytes.value_or(0)), run.began});
  }
  if (runs.empty()) return table;
  add_column(table, "version", "made by ", runs, &StoredRun::version, notes);
  add_column(table, "processor", "processor: ", runs, &StoredRun::processor, notes);
  return table;
}

std::vector<FleetKeys> keys_of(const RunTable& table, const std::vector<GroupRow>& rows) {
  constexpr std::size_t most = 24;
  std::vector<FleetKeys> keys;
  if (table.groups.size() == 1) return {{"", 0, table.groups.front().keys}};
  for (const GroupRow& row : rows)
    for (const GroupView& view : row.groups)
      if (keys.size() < most) keys.push_back({name_in(row, view), view.series, view.group().keys});
  return keys;
}

}  // namespace

RunReport make_report(const std::vector<StoredRun>& runs,
                      const CompareOptions& options,
                      const std::vector<StoredRun>& tuned) {
  CompareOptions asked = options;
  if (asked.by.empty()) asked.by = usual_rows(group_runs(runs));
  const Comparison comparison = compare_runs(runs, asked);
  const RunTable& table = comparison.table;
  const std::vector<GroupRow> rows = group_rows(comparison);
  const std::optional<CompareTarget>& target = comparison.target;
  const bool single = runs.size() == 1;
  Sections s;
  RunReport report{.title = title_of(runs), .lead = lead_of(comparison)};
  if (single) {
    for (Figure& figure : learning_figures(runs.front(), target))
      add(s.learning, std::move(figure));
  }
  for (const GroupRow& row : rows) add_row(row, target, !single, s);
  if (single)
    add(s.shares, peer_shares_figure(read_peer_totals(runs.front().path), runs.front().hosts,
                                     runs.front().rounds));
  std::size_t looked_at = 0;
  for (const GroupRow& row : rows) {
    for (const GroupView& view : row.groups) {
      if (looked_at++ >= open_groups + folded_groups) break;
      const std::string name = single ? "" : name_in(row, view);
      add_run_figures(*view.group().runs.front(), name, view.series, s);
      add_ratios(*view.group().runs.front(), name, s);
    }
  }
  std::vector<Tuning> tunings = tunings_of(tuned, target);
  share_colours(tunings, rows);
  for (Figure& figure : tuning_figures(tunings)) add(s.tuning, std::move(figure));
  report.findings = single ? run_findings(runs.front()) : compared_findings(comparison);
  report.tiles = single ? run_tiles(runs.front()) : compared_tiles(comparison);
  report.legend = legend_of(rows, 1);
  report.missing = missing_in(s);
  report.sections = {s.race,      s.learning,  s.shares, s.timeline, s.waiting,
                     s.agreement, s.staleness, s.queue,  s.ratio,    s.tuning};
  report.keys = keys_of(table, rows);
  report.notes.insert(report.notes.begin(), comparison.notes.begin(), comparison.notes.end());
  report.runs = runs_table(runs, report.notes);
  return report;
}

}  // namespace gv
