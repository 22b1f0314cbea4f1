#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/run/batch_job.h"
#include "peer/cli/run/run_end.h"
#include "peer/cli/run/run_screen.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/launch/agent/fetch_files.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/launcher/peer_reports.h"
#include "peer/launch/process/process.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/joined_models.h"
#include "peer/record/observer.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/show/live/live_address.h"
#include "peer/study/predict/forecast/advice.h"

namespace gv::cli {
namespace {

/// Peers of a fleet without a launcher, read from FOLDER/peers/003 and so on.
using CollectedPeers = std::map<PeerId, StoredReports>;

namespace fs = std::filesystem;

/// Returns the peer whose folder this is, or nothing for a name without a number. Each peer has one
/// folder, so a second spelling of its number is refused: 0000 is not 000.
std::optional<PeerId> peer_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const auto peer = as_number<PeerId>(name);
  if (!peer || name == fmt::format("{:03}", *peer)) return peer;
  throw std::runtime_error(fmt::format("{}: the folder of peer {} must be called {:03}",
                                       printable(folder.string(), 200), *peer, *peer));
}

/// Returns the folders of peers by number; symbolic links are skipped.
std::map<PeerId, fs::path> peer_folders(const std::string& folder) {
  std::map<PeerId, fs::path> folders;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/peers", none)) {
    const std::optional<PeerId> peer = peer_of(entry.path());
    if (peer && fs::is_directory(entry.symlink_status())) folders[*peer] = entry.path();
  }
  return folders;
}

void check_alike(const CollectedPeers& peers, const StoredReports& next, const std::string& path) {
  if (peers.empty()) return;
  const ReportsOf& first = peers.begin()->second.whose;
  if (first.digest == next.whose.digest && first.peers == next.whose.peers) return;
  throw std::runtime_error(
      fmt::format("{} is of another fleet (digest {}, of {} peers) than peer {} (digest {}, of {})",
                  path, printable(next.whose.digest, 32), next.whose.peers, peers.begin()->first,
                  printable(first.digest, 32), first.peers));
}

/// Moment of an evaluation: the period of the clock, or else the round.
using Moment = std::pair<std::uint64_t, Round>;

Moment moment_of(const Report& report) {
  return {report.tick, report.tick > 0 ? 0 : report.round};
}

/// Evaluations by moment, then by peer. A peer that returned to a checkpoint repeated some; the
/// newer ones count.
using Evaluations = std::map<Moment, std::map<PeerId, const KeptReport*>>;

Evaluations evaluations_of(const CollectedPeers& peers) {
  Evaluations all;
  for (const auto& [peer, stored] : peers)
    for (const KeptReport& kept : stored.reports)
      if (!kept.report.last) all[moment_of(kept.report)][peer] = &kept;
  return all;
}

std::map<PeerId, const KeptReport*> ends_of(const CollectedPeers& peers) {
  std::map<PeerId, const KeptReport*> ends;
  for (const auto& [peer, stored] : peers)
    if (!stored.reports.empty() && stored.reports.back().report.last &&
        !stored.reports.back().model.empty())
      ends[peer] = &stored.reports.back();
  return ends;
}

Time began_at(const std::map<PeerId, const KeptReport*>& reports) {
  Time latest{0};
  for (const auto& [peer, kept] : reports)
    latest = std::max(latest, kept->report.costs.spent.total());
  return latest;
}

/// Loads a report with its model. A server or a stage holds only a part of the model.
Report load_checked(const KeptReport& kept, const Assembly& fleet) {
  Report report = load(kept, fleet.dimension * sizeof(float));
  const std::size_t floats = report.model->floats().size();
  if (can_be_of(fleet.fleet, fleet.dimension, report)) return report;
  throw std::runtime_error(fmt::format("{}: {} numbers from {} on, and the model has {}",
                                       kept.model, floats, report.holds.begin, fleet.dimension));
}

/// Waits until the evaluator has answered for the models up to now, so that they can be freed.
void settle(Observer& observer) {
  while (observer.waits()) {
    std::vector<pollfd> fds;
    observer.add_to(fds);
    constexpr int tick_ms = 100;  // an evaluator has deadlines
    ::poll(fds.data(), fds.size(), tick_ms);
    observer.work();
  }
}

/// Returns an empty map if there are no peers. Throws std::runtime_error if a folder is invalid
/// or is named after another peer, or if two are of different fleets.
CollectedPeers read_peers(const std::string& folder) {
  CollectedPeers peers;
  for (const auto& [peer, path] : peer_folders(folder)) {
    if (!fs::exists(path / "reports.jsonl")) continue;
    StoredReports stored = read_reports(path.string());
    check_alike(peers, stored, path.string());
    if (stored.whose.peer != peer || peer >= stored.whose.peers)
      throw std::runtime_error(fmt::format("{} holds what peer {} of {} left", path.string(),
                                           stored.whose.peer, stored.whose.peers));
    peers.emplace(peer, std::move(stored));
  }
  return peers;
}

/// Copies the regular files of `from`/peers/003 and so on into `to`; overwrites nothing. Throws
/// std::invalid_argument if both have a peer, std::runtime_error if a file cannot be written.
void gather_peers(const std::string& from, const std::string& to) {
  for (const auto& [peer, path] : peer_folders(from)) {
    const fs::path there = fs::path(to) / "peers" / path.filename();
    if (fs::exists(there))
      throw std::invalid_argument(
          fmt::format("peer {} is both in {} and in {}", peer, path.string(), there.string()));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (!fs::is_regular_file(entry.symlink_status())) continue;
      const fs::path copy = there / entry.path().lexically_relative(path);
      std::error_code error;
      fs::create_directories(copy.parent_path(), error);
      if (!error) fs::copy_file(entry.path(), copy, error);
      if (error) throw std::runtime_error(fmt::format("{}: {}", copy.string(), error.message()));
    }
  }
}

/// Passes the peers' reports to the observer as a launcher would: evaluations in order of their
/// rounds, if the models of all peers were kept, and then the last reports. Returns the lost peers:
/// those without a last report, and those that left nothing.
std::vector<PeerId> replay(const CollectedPeers& peers, const Assembly& fleet, Observer& observer) {
  const auto ends = ends_of(peers);
  std::vector<PeerId> missing;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    if (ends.contains(i)) continue;
    missing.push_back(i);
    observer.forget(i);
  }
  for (const auto& [moment, reports] : evaluations_of(peers)) {
    const bool complete = std::ranges::all_of(
        reports, [](const auto& entry) { return !entry.second->model.empty(); });
    for (const auto& [peer, kept] : reports)
      if (complete && ends.contains(peer))
        observer.take(load_checked(*kept, fleet), began_at(reports));
    settle(observer);
  }
  for (const auto& [peer, kept] : ends) observer.take(load_checked(*kept, fleet), began_at(ends));
  settle(observer);
  return missing;
}

struct CollectArguments {
  std::vector<std::string> from;
  FleetOptions file;
  std::string into;
  bool trust = false;
};

/// Returns the end of the machine's name in "anna:runs/lan", "carl@[fd00::1]:runs/lan", or npos.
std::size_t colon_of(const std::string& place) {
  const std::size_t bracket = place.find('[');
  const bool v6 = bracket == 0 || (bracket != std::string::npos && place[bracket - 1] == '@');
  const std::size_t end = v6 ? place.find("]:", bracket) : std::string::npos;
  return end == std::string::npos ? place.find(':') : end + 1;
}

/// Returns whether the place is like "anna:runs/lan". A path with a colon is written ./a:b.
bool is_remote(const std::string& place) {
  const std::size_t colon = colon_of(place);
  return colon != std::string::npos && colon > 0 && place.find('/') > colon;
}

/// Returns the machine's name without brackets, as ssh takes an IPv6 address.
std::string machine_of(const std::string& place) {
  std::string machine = place.substr(0, colon_of(place));
  std::erase_if(machine, [](char c) { return c == '[' || c == ']'; });
  return machine;
}

/// Fetches the peers' folders from another machine, by the user's own ssh.
void fetch(const std::string& place, const std::string& into) {
  const std::string folder = place.substr(colon_of(place) + 1);
  const TemporaryFolder fetched(into + ".fetched");
  const std::string there =
      fmt::format("tar -C {} -cf - peers", shell_word(folder.empty() ? "." : folder));
  std::string line;
  for (const std::string& word : ssh_argv(machine_of(place), there)) line += shell_word(word) + " ";
  line += fmt::format("| tar -C {} --no-same-owner -xf -", shell_word(fetched.path()));
  Child process({"/bin/sh", "-c", line});
  std::string said;
  hear_out(
      process, [](const std::string&) {},
      [&](const std::string& error) { said += "\n  " + printable(error, 200); });
  if (process.status() != 0 || !fs::is_directory(fetched.path() + "/peers"))
    throw std::runtime_error(
        fmt::format("{}: its peers/ could not be fetched:{}", printable(place, 100), said));
  gather_peers(fetched.path(), into);
}

/// Returns the folder of the collected run: the only source, or that of -o.
std::string target_of(const CollectArguments& arguments) {
  const std::string& first = arguments.from.front();
  if (arguments.into.empty() && (arguments.from.size() > 1 || is_remote(first)))
    throw std::invalid_argument("collect: several places need -o FOLDER for the run");
  return arguments.into.empty() ? first : arguments.into;
}

void gather(const CollectArguments& arguments, const std::string& into) {
  if (arguments.into.empty()) return;
  std::error_code error;
  fs::create_directories(into, error);
  if (error) throw std::runtime_error(fmt::format("{}: {}", into, error.message()));
  for (const std::string& place : arguments.from) {
    if (is_remote(place)) {
      fetch(place, into);
    } else if (!fs::is_directory(place + "/peers")) {
      throw std::invalid_argument(
          fmt::format("collect: {} has no peers/: is it the folder that a peer wrote to?", place));
    } else {
      gather_peers(place, into);
    }
  }
}

/// Returns whether a run with a launcher left files on its hosts.
bool is_rest_elsewhere(const std::string& folder) {
  const HostFolders hosts = read_host_folders(folder);
  return std::ranges::any_of(hosts, [](const auto& host) { return !host.second.fetched; });
}

/// Fetches the files that the launcher could not fetch at the end of the run, over ssh from the
/// hosts in the user's own fleet file, or else in the folder's.
int collect_rest(const std::string& run, const CollectArguments& arguments) {
  if (connect_live(run).open())
    throw std::invalid_argument(fmt::format("collect: {} is still running", run));
  FleetOptions file = arguments.file;
  if (file.file.empty()) file = options_named_by(run, arguments.trust);
  if (file.untrusted) file.untrusted->code.emplace_back("hosts");
  const Assembly fleet = assemble(file);
  check_again(run, fleet.fleet, read_arguments(run).digest);
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const Placed at = place_fleet(file, "");
  const std::vector<std::string> missing = fetch_rest(
      fleet, {peer_program(), fleet.fleet.path, at.file.sets, say, at.batch}, RunFolder::open(run));
  if (missing.empty()) {
    say(fmt::format("fetched    all that the peers left is in {}/peers", run));
    return exit_code::done;
  }
  say(not_fetched_text(missing, run));
  return exit_code::not_kept;
}

void refuse_ended(const std::string& folder) {
  if (!fs::exists(folder + "/summary.json")) return;
  throw std::invalid_argument(fmt::format(
      "collect: {} is the folder of a run that has ended\nhelp:  -o FOLDER collects into another",
      folder));
}

/// Uses the file that the peers were started with, which is not trusted, if none is given.
void find_file_of(const CollectedPeers& peers, const std::string& folder, CollectArguments& all) {
  const ReportsOf& whose = peers.begin()->second.whose;
  FleetOptions& file = all.file;
  if (!file.file.empty()) return;
  file.file = whose.file;
  file.sets = whose.sets;
  if (!all.trust) file.untrusted = Untrusted{folder};
  if (!fs::exists(file.file))
    throw std::invalid_argument(
        fmt::format("collect: the peers' fleet file {} is not here\nhelp:  --file FILE names "
                    "it, with the same --set",
                    printable(file.file, 200)));
}

/// Builds the peers' fleet. If programs trained, one is started as `scout` to evaluate the models.
Assembly fleet_of(const CollectedPeers& peers, FleetOptions& file, std::unique_ptr<Scout>& scout) {
  const ReportsOf& whose = peers.begin()->second.whose;
  Fleet fleet = read_file(file);
  if (fleet.digest == whose.digest)
    return assemble_to_run(std::move(fleet), file, peer_program(), scout);
  throw std::invalid_argument(fmt::format(
      "collect: {} is another fleet now (digest {}) than that of the peers ({}), which were "
      "started with {}",
      printable(file.file, 200), fleet.digest, printable(whose.digest, 32),
      whose.sets.empty()
          ? "no --set"
          : "--set " + printable(fmt::format("{}", fmt::join(whose.sets, " --set ")), 400)));
}

/// Writes the files that `run` writes at its start.
void begin(const Assembly& fleet, const RunFolder& folder, const FleetOptions& file) {
  const RunOrigin origin{.kind = "run",
                         .file = file.file,
                         .sets = file.sets,
                         .version = version_text(),
                         .resumed = {}};
  std::error_code ignored;
  fs::copy_file(file.file, folder.file("fleet.yaml"), fs::copy_options::overwrite_existing,
                ignored);
  fs::remove(folder.file("metrics.jsonl"), ignored);
  folder.write("run.json",
               run_json(fleet, origin, fleet_keys(file.file, file.sets)).dump(2) + "\n");
}

int finish(const Assembly& fleet,
           const RunFolder& folder,
           const Observer& observer,
           const std::vector<PeerId>& missing,
           Scout* scout,
           bool json) {
  const FleetRecord& end = *observer.summary();
  const double seconds = in_seconds(end.time);
  const auto lost = static_cast<PeerId>(missing.size());
  int code = end.sound() ? exit_code::done : exit_code::check_failed;
  if (!missing.empty()) code = exit_code::peers_lost;
  if (has_diverged(end.mean.loss)) code = exit_code::failed;
  Json summary = summary_json(end, lost, seconds, observer.hashes());
  const Dataset* const test = fleet.looked_at().get();
  add_score(summary, regression_score(test, end.mean.loss));
  add_target(summary, fleet, observer);
  summary["exit_code"] = code;
  end_run(fleet, folder, observer, observer.saved_model(), summary.dump(), version_text());
  const std::string beside = save_whole(folder, observer, scout);
  if (code == exit_code::failed) fmt::print(stderr, "{}\n", loss_not_finite(fleet));
  if (json) {
    console::print(summary);
    return code;
  }
  fmt::print("{}\nsaved      {}/model.safetensors{}\n",
             summary_text(end, lost, seconds, observer.hashes(), test), folder.path(), beside);
  const std::string target = target_text(fleet, observer);
  if (!target.empty()) fmt::print("{}\n", target);
  return code;
}

int collect(const CollectArguments& given) {
  CollectArguments arguments = given;
  const std::string into = target_of(arguments);
  if (is_rest_elsewhere(into)) return collect_rest(into, arguments);
  refuse_ended(into);
  gather(arguments, into);
  const RunFolder folder = RunFolder::open(into);
  const CollectedPeers peers = read_peers(into);
  if (peers.empty())
    throw std::invalid_argument(
        fmt::format("collect: {}/peers has no reports.jsonl: was the run's launcher `run`?", into));
  find_file_of(peers, into, arguments);
  std::unique_ptr<Scout> scout;
  const Assembly fleet = fleet_of(peers, arguments.file, scout);
  begin(fleet, folder, arguments.file);
  Screen screen(fleet, folder, arguments.file.json);
  const std::unique_ptr<Evaluator> own = scout ? nullptr : make_evaluator(fleet.evaluator());
  Observer observer(fleet.fleet.size(), scout ? *scout : *own,
                    [&](const FleetRecord& r) { screen.record(r, observer); });
  observer.aim_at(fleet.aims());
  const std::vector<PeerId> missing = replay(peers, fleet, observer);
  screen.finish();
  if (!missing.empty())
    fmt::print(stderr, "peers that left no final model: {}\n", fmt::join(missing, ", "));
  if (observer.summary())
    return finish(fleet, folder, observer, missing, scout.get(), arguments.file.json);
  fmt::print(stderr, "error: no peer finished\n");
  return exit_code::failed;
}

void collect_options(Options& options, CollectArguments& arguments) {
  options
      .value("RUN", arguments.from,
             "Folders that peers wrote to: output.dir of their file, or HOST:PATH over ssh")
      .required();
  options
      .value("-o,--output", arguments.into,
             "Folder of the collected run; required for several places")
      .call_values("FOLDER");
  options.value("--file", arguments.file.file,
                "Fleet file to use instead of the one that the peers name");
  options
      .value("--set", arguments.file.sets,
             "With --file: values that the peers were started with (repeatable)")
      .call_values("KEY.PATH=VALUE");
  add_trust(options, arguments.trust);
  options.json(arguments.file.json);
}

}  // namespace

Command collect_command() {
  return command("collect",
                 "Collect a run of peers that had no launcher: the mean model, metrics and ledgers",
                 "  peers that wrote into one folder, by hand or by srun:\n"
                 "  grapevine collect runs/lan\n"
                 "  peers on several machines:\n"
                 "  grapevine collect anna:runs/lan ben:runs/lan -o runs/lan\n"
                 "  what `run` could not fetch from its hosts at the end:\n"
                 "  grapevine collect runs/lan --trust\n"
                 "  grapevine report runs/lan",
                 collect_options, collect);
}

}  // namespace gv::cli
