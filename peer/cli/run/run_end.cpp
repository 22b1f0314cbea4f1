#include "peer/cli/run/run_end.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/run/run_meter.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/report/culprits.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/record/report/time_shares.h"
#include "peer/record/runs/peer_totals.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/views.h"
#include "peer/show/live/run_finder.h"
#include "peer/study/predict/forecast/expectation.h"
#include "peer/study/predict/forecast/proposal.h"

namespace gv::cli {
namespace {

std::set<Edge> edges_of(const Assembly& fleet) {
  std::set<Edge> edges;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i)
    for (const PeerId j : links_of(fleet.plan(i))) edges.insert(std::minmax(i, j));
  return edges;
}

std::string ending_text(const Assembly& fleet,
                        const Observer& observer,
                        const LaunchResult& result) {
  const std::string text = summary_text(*observer.summary(), static_cast<PeerId>(result.gone),
                                        result.seconds, observer.hashes(), fleet.looked_at().get());
  return was_interrupted(result) ? as_stopped(text) : text;
}

/// Returns the peers that held up others; none if a record is damaged, which is no error here.
std::vector<Culprit> culprits_in(const std::string& folder) {
  if (folder.empty()) return {};
  try {
    return culprits(read_peer_times(folder));
  } catch (const UnusableRun&) {
    return {};
  }
}

}  // namespace

bool was_interrupted(const LaunchResult& result) {
  constexpr int by_signals = 128;  // exit codes above it
  return result.asked_to_stop || result.code > by_signals;
}

std::string as_stopped(const std::string& summary) {
  constexpr std::string_view finished = "finished";
  return summary.starts_with(finished) ? "stopped" + summary.substr(finished.size()) : summary;
}

std::string lost_table(const LaunchResult& result) {
  std::string text =
      fmt::format("{:>6} {:>9} {:>20} {:>8}  last words", "peer", "pid", "ended", "round");
  for (const LostPeer& lost : result.lost) {
    text += fmt::format("\n{:>6} {:>9} {:>20} {:>8}  {}  {}", lost.peer, lost.pid, lost.ending,
                        lost.round, lost.last_words.empty() ? "(none)" : lost.last_words,
                        lost.restarted ? "(restarted)" : lost.log_path);
  }
  return text;
}

Json final_json(const Assembly& fleet, const Observer& observer, const LaunchResult& result) {
  const auto lost = static_cast<PeerId>(result.gone);
  const FleetRecord& end = *observer.summary();
  Json json = summary_json(end, lost, result.seconds, observer.hashes());
  add_score(json, regression_score(fleet.looked_at().get(), end.mean.loss));
  add_expectation(json, expectation(fleet, end));
  // The prediction of plan for the file's network; with larger models it would take seconds.
  constexpr std::size_t most_clocked_floats = 50'000'000;
  if (fleet.fleet.size() * fleet.dimension <= most_clocked_floats)
    json["predicted"]["seconds_per_round"] = dry_run(fleet, fleet.fleet.network).seconds_per_round;
  add_target(json, fleet, observer);
  add_attackers(json, *fleet.setup);
  add_chains(json, fleet);
  json["edges"] = edges_of(fleet).size();
  Json shared = Json::array();
  for (const auto& [a, b] : result.shared) shared.push_back(Json(std::vector<PeerId>{a, b}));
  json["shared_edges"] = shared;
  if (!result.not_fetched.empty()) json["not_fetched"] = result.not_fetched;
  json["exit_code"] = result.code;
  return json;
}

void print_end(const Assembly& fleet,
               const Observer& observer,
               const LaunchResult& result,
               const std::string& folder) {
  const FleetRecord& end = *observer.summary();
  fmt::print("{}{}\n", ending_text(fleet, observer, result),
             expectation_text(expectation(fleet, end), end));
  fmt::print("network    {}\n", edges_text(edges_of(fleet), result.shared));
  print_hints(fleet, observer, folder);
}

void print_hints(const Assembly& fleet, const Observer& observer, const std::string& folder) {
  const FleetRecord& end = *observer.summary();
  for (const std::string& line :
       {attackers_text(*fleet.setup), time_text(end),
        time_advice(end, culprits_in(folder), host_names(fleet.fleet), remedies_of(fleet)),
        target_text(fleet, observer)})
    if (!line.empty()) fmt::print("{}\n", line);
}

std::string not_fetched_text(const std::vector<std::string>& hosts, const std::string& run_folder) {
  const std::string help =
      has_lobby()
          ? "once it joins again: grapevine lobby --resume"
          : fmt::format("once it answers: grapevine collect {} --trust", shell_path(run_folder));
  return fmt::format(
      "error: checkpoints, records and ledgers of the peers of {} could not be fetched and are "
      "only there\nhelp:  {}",
      fmt::join(hosts, ", "), help);
}

std::string how_to_resume(const std::string& run_folder) {
  const std::string line = resume_line(run_folder);
  const std::size_t round = line.find("   (from round");
  if (!has_lobby() || round == line.npos) return line;
  return "resume     grapevine lobby --resume" + line.substr(round);
}

std::string unsaved_text(const std::string& why, const std::string& run_folder) {
  return fmt::format(
      "error: the model is not saved: {}\nhelp:  free some space, then: grapevine run --resume {} "
      "(with checkpoints)",
      why, shell_path(run_folder));
}

std::string without_summary(const LaunchResult& result,
                            const Observer& observer,
                            const RunFolder& folder) {
  if (was_interrupted(result))
    return fmt::format("stopped at once: the models of this run are not saved\n{}",
                       how_to_resume(folder.path()));
  if (observer.has_no_model())
    return fmt::format(
        "error: no chain has all its stages any more, so there is no model to save\n{}",
        how_to_resume(folder.path()));
  return fmt::format("error: no peer finished; their logs are in {}/peers", folder.path());
}

std::string save(const Assembly& fleet,
                 const RunFolder& folder,
                 const Observer& observer,
                 const std::string& summary,
                 const Json& ended) {
  try {
    end_run(fleet, folder, observer, observer.saved_model(), summary, version_text());
    add_end(folder, ended);
    return "";
  } catch (const std::runtime_error& full) {
    return full.what();
  }
}

std::string save_whole(const RunFolder& folder, const Observer& observer, Scout* scout) {
  if (scout == nullptr) return "";
  const std::string path = std::filesystem::absolute(folder.file("model.pt")).string();
  return scout->save(observer.saved_model(), path) ? ", and model.pt, which PyTorch loads" : "";
}

void end_without_model(const RunFolder& folder, const std::string& summary, const Json& ended) {
  try {
    end_unsaved(folder, summary);
    add_end(folder, ended);
  } catch (const std::runtime_error&) {  // the first such error was reported
  }
}

}  // namespace gv::cli
