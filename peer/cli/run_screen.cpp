#include "peer/cli/run_screen.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/mixing_figures.h"
#include "peer/cli/version.h"
#include "peer/launch/agent/lan.h"
#include "peer/launch/best_model.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/warnings.h"

namespace gv::cli {
namespace {

std::string machines_text(const Fleet& fleet) {
  if (!is_lan(fleet)) return "this machine";
  std::set<std::string> hosts;
  for (const PeerSpec& peer : fleet.peers) hosts.insert(peer.host);
  return fmt::format("{} machines", hosts.size());
}

/// "runs/lan-2 (runs/lan is there already)".
std::string folder_text(const Fleet& fleet, const RunFolder& folder) {
  if (folder.path() == fleet.output_dir || !folder.path().starts_with(fleet.output_dir + "-"))
    return folder.path();
  return fmt::format("{} ({} is there already)", folder.path(), fleet.output_dir);
}

/// "data   digits: 400 samples, iid parts; model softmax, 7850 parameters".
std::string matter_text(const Assembly& fleet) {
  const DataSpec& data = fleet.fleet.data;
  if (fleet.fleet.program)
    return fmt::format(
        "program {}: {} parameters",
        printable(fmt::format("{}", fmt::join(fleet.fleet.program->command, " ")), 200),
        fleet.dimension);
  return fmt::format(
      "data   {}: {}; model {}, {} parameters",
      data.kind,
      fleet.data.train
          ? fmt::format("{} samples, {} parts", fleet.data.train->rows, data.partition.kind)
      : fleet.fleet.agent ? data.environment
                          : "drawn by the oracle",
      fleet.fleet.model.kind,
      fleet.dimension);
}

std::string chained_text(const Fleet& fleet) {
  if (fleet.parallel && !fleet.parallel->copies.empty())
    return fmt::format(" in 1 chain of {}", fmt::join(fleet.parallel->copies, " + "));
  if (fleet.chains().peers() == 1) return "";
  return fmt::format(
      " in {} chain{} of {}{}",
      fleet.models(),
      fleet.models() == 1 ? "" : "s",
      fleet.stages(),
      fleet.parallel->tensor > 1 ? fmt::format(" x {} members", fleet.parallel->tensor) : "");
}

std::string head(const Assembly& fleet, const RunFolder& folder) {
  return fmt::format("{}: {} peers{} on {}, {} {}\n{}\ngraph  {}\nrun    {}",
                     fleet.fleet.name,
                     fleet.fleet.size(),
                     chained_text(fleet.fleet),
                     machines_text(fleet.fleet),
                     fleet.algorithm->kind,
                     fleet.algorithm->order,
                     matter_text(fleet),
                     mixing_figures(fleet).text,
                     folder_text(fleet.fleet, folder));
}

}  // namespace

Screen::Screen(const Assembly& fleet, const RunFolder& folder, bool json)
    : fleet_(fleet),
      folder_(folder),
      json_(json),
      width_(std::to_string(fleet.fleet.size() - 1).size()),
      writer_(folder.file("metrics.jsonl")) {
  if (!json_)
    fmt::print(
        "{}\n{}\n",
        head(fleet, folder),
        table_header(
            fleet.looked_at().get(), fleet.validation != nullptr, fleet.fleet.agent.has_value()));
  std::fflush(stdout);
}

LaunchScreen Screen::callbacks(Feed& feed) {
  return {.on_log = [this](PeerId id, const std::string& line) { log(id, line); },
          .on_record = {},
          .on_lost = [this](const LostPeer& lost) { tell_lost(lost); },
          .on_note = [this](const std::string& note) { say(note); },
          .on_tick =
              [this](Round round, double seconds, std::size_t alive) {
                progress_.update(progress_text(round, seconds, alive));
              },
          .on_state =
              [this, &feed](FleetState state) {
                look_for_hold_ups(state);
                tell_troubles();
                feed.put(std::move(state));
              },
          .on_restarted =
              [this](PeerId peer) {
                note_event(Json{{"event", "restarted"}, {"peer", peer}});
              }};
}

void Screen::record(const FleetRecord& record, const Observer& observer) {
  latest_ = record;
  writer_.append(evaluate_line(record));
  if (const std::optional<BestModel>& best = observer.best(); best && best->round == record.round)
    writer_.replace([this, kept = *best] { keep_best(fleet_, folder_, kept, version_text()); });
  tell_troubles();
  progress_.clear();
  fmt::print("{}\n", json_ ? evaluate_line(record) : table_row(record, fleet_.looked_at().get()));
  std::fflush(stdout);
  if (loss_rose(record) && !std::exchange(loss_rose_, true)) say(loss_rise_text(record));
}

void Screen::say(const std::string& text) {
  progress_.clear();
  fmt::print(stderr, "{}\n", text);
}

void Screen::log(PeerId id, const std::string& line) {
  say(fmt::format("[peer {:{}}] {}", id, width_, line));
}

void Screen::tell_troubles() {
  for (const std::string& trouble : writer_.troubles()) say(trouble);
}

void Screen::finish() {
  progress_.clear();
  if (!writer_.finish(std::chrono::seconds(2))) {
    say(fmt::format("waiting for the disk, to write {}", folder_.path()));
    writer_.finish();
  }
  tell_troubles();
}

/// Writes between the evaluations of metrics.jsonl, whose readers look for those alone.
void Screen::note_event(const Json& event) {
  writer_.append(event.dump());
}

void Screen::tell_lost(const LostPeer& lost) {
  note_event(
      Json{{"event", "lost"}, {"peer", lost.peer}, {"round", lost.round}, {"ending", lost.ending}});
  say(fmt::format("peer {} lost at round {} (pid {}, {}){}{}",
                  lost.peer,
                  lost.round,
                  lost.pid,
                  lost.ending,
                  lost.last_words.empty() ? "" : ": ",
                  lost.last_words));
}

void Screen::look_for_hold_ups(const FleetState& state) {
  constexpr double between_looks = 2;
  if (state.phase != FleetState::Phase::training || state.seconds < look_at_) return;
  look_at_ = state.seconds + between_looks;
  for (const HoldUp& lasting : held_up_by_.after(hold_ups(fleet_.fleet, state))) say(lasting.text);
}

/// Returns nothing where nobody knows: only a target ends the run, or no round is done.
std::optional<double> Screen::seconds_left(Round round, double seconds) const {
  std::optional<double> left;
  if (fleet_.fleet.stop.time) left = std::max(0.0, in_seconds(*fleet_.fleet.stop.time) - seconds);
  if (fleet_.rounds == std::numeric_limits<Round>::max() || round == 0) return left;
  const double by_rounds =
      seconds * static_cast<double>(fleet_.rounds - round) / static_cast<double>(round);
  return left ? std::min(*left, by_rounds) : by_rounds;
}

std::string Screen::progress_text(Round round, double seconds, std::size_t alive) const {
  const double rate = seconds > 0 ? static_cast<double>(round) / seconds : 0;
  const bool endless = fleet_.rounds == std::numeric_limits<Round>::max();
  // The most wanted first: what does not fit into the line is cut off.
  std::string text =
      endless ? fmt::format("round {}", round) : fmt::format("round {}/{}", round, fleet_.rounds);
  text += fmt::format("  {:.1f} rounds/s", rate);
  if (const std::optional<double> left = seconds_left(round, seconds))
    text += "  " + seconds_text(*left) + " left";
  text += fmt::format("  {}/{} peers", alive, fleet_.fleet.size());
  if (latest_ && latest_->mean.accuracy)
    text += fmt::format("  accuracy {:.4f}", *latest_->mean.accuracy);
  return latest_ ? text + fmt::format("  loss {:.4g}", latest_->mean.loss) : text;
}

}  // namespace gv::cli
