#include "peer/cli/run/run_screen.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/mixing/share_weights.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/spectrum/spectrum.h"
#include "optim/printable.h"
#include "optim/unknown_figure.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/run/best_model.h"
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

/// Returns "runs/lan-2 (runs/lan is there already)".
std::string folder_text(const Fleet& fleet, const RunFolder& folder) {
  if (folder.path() == fleet.output_dir || !folder.path().starts_with(fleet.output_dir + "-"))
    return folder.path();
  return fmt::format("{} ({} is there already)", folder.path(), fleet.output_dir);
}

/// With parts on other machines, the number of training samples is unknown (see reader_of_parts).
std::string samples_text(const Assembly& fleet) {
  const DataSpec& data = fleet.fleet.data;
  if (!fleet.data.train) return fleet.fleet.agent ? data.environment : "drawn by the oracle";
  if (reader_of_parts(fleet.fleet))
    return fmt::format("{} test samples, each peer has its own part", fleet.data.test->rows);
  return fmt::format("{} samples, {} parts", fleet.data.train->rows, data.partition.kind);
}

/// Returns "data   digits: 400 samples, iid parts; model softmax, 7850 parameters".
std::string matter_text(const Assembly& fleet) {
  if (fleet.fleet.program)
    return fmt::format(
        "program {}: {} parameters",
        printable(fmt::format("{}", fmt::join(fleet.fleet.program->command, " ")), 200),
        fleet.dimension);
  return fmt::format("data   {}: {}; model {}, {} parameters", fleet.fleet.data.kind,
                     samples_text(fleet), fleet.fleet.model.kind, fleet.dimension);
}

std::string chained_text(const Fleet& fleet) {
  if (fleet.parallel && !fleet.parallel->copies.empty())
    return fmt::format(" in 1 chain of {}", fmt::join(fleet.parallel->copies, " + "));
  if (fleet.chains().peers() == 1) return "";
  return fmt::format(
      " in {} of {}{}", counted(fleet.models(), "chain"), fleet.stages(),
      fleet.parallel->tensor > 1 ? fmt::format(" x {} members", fleet.parallel->tensor) : "");
}

std::string head(const Assembly& fleet, const RunFolder& folder) {
  return fmt::format("{}: {} peers{} on {}, {} {}\n{}\ngraph  {}\nrun    {}", fleet.fleet.name,
                     fleet.fleet.size(), chained_text(fleet.fleet), machines_text(fleet.fleet),
                     fleet.algorithm->kind, fleet.algorithm->order, matter_text(fleet),
                     mixing_figures(fleet).text, folder_text(fleet.fleet, folder));
}

MixingFigures of_matrix(const Assembly& fleet) {
  const Spectrum s = spectrum(*fleet.w, &fleet.fleet.topology, fleet.fleet.weights);
  return {.text = fmt::format("{}, {} weights: spectral gap {:.6g}, slem {:.6f}",
                              fleet.topology.name, fleet.fleet.weights, s.gap, s.slem),
          .name = fleet.topology.name,
          .slem = s.slem,
          .gap = s.gap,
          .schedule = nullptr};
}

/// Returns how fast peers converge if no W is doubly stochastic and the rate can be computed.
/// `what`: name of the eigenvalue that determines it.
template <class Rate>
MixingFigures of_rate(const Assembly& fleet, const char* what, Rate rate_of) {
  MixingFigures figures{.text = fmt::format("{}, {}", fleet.topology.name, fleet.fleet.weights),
                        .name = fleet.topology.name,
                        .slem = std::numeric_limits<double>::quiet_NaN(),
                        .gap = std::numeric_limits<double>::quiet_NaN(),
                        .schedule = nullptr};
  try {
    figures.slem = rate_of();
    figures.gap = 1 - figures.slem;
    figures.text += fmt::format(": gap {:.6g}, {} {:.6f}", figures.gap, what, figures.slem);
  } catch (const std::invalid_argument&) {  // too large
  }
  return figures;
}

/// Returns the number of rounds to sample: a row may take time in proportion to the peers.
int samples(const Assembly& fleet) {
  const double n = fleet.fleet.models();
  return static_cast<int>(std::clamp(1e8 / (n * n), 20.0, 4000.0));
}

}  // namespace

Screen::Screen(const Assembly& fleet, const RunFolder& folder, bool json)
    : fleet_(fleet),
      folder_(folder),
      json_(json),
      width_(std::to_string(fleet.fleet.size() - 1).size()),
      writer_(folder.file("metrics.jsonl")) {
  if (!json_)
    fmt::print("{}\n{}\n", head(fleet, folder),
               table_header(fleet.looked_at().get(), fleet.validation != nullptr,
                            fleet.fleet.agent.has_value()));
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

/// Writes an event between the evaluations of metrics.jsonl, whose readers look only for those.
void Screen::note_event(const Json& event) {
  writer_.append(event.dump());
}

void Screen::tell_lost(const LostPeer& lost) {
  note_event(
      Json{{"event", "lost"}, {"peer", lost.peer}, {"round", lost.round}, {"ending", lost.ending}});
  say(fmt::format("peer {} lost at round {} (pid {}, {}){}{}", lost.peer, lost.round, lost.pid,
                  lost.ending, lost.last_words.empty() ? "" : ": ", lost.last_words));
}

void Screen::look_for_hold_ups(const FleetState& state) {
  constexpr double between_looks = 2;
  if (state.phase != FleetState::Phase::training || state.seconds < look_at_) return;
  look_at_ = state.seconds + between_looks;
  for (const HoldUp& lasting : held_up_by_.after(hold_ups(fleet_.fleet, state))) say(lasting.text);
}

/// Returns nothing if the time is unknown: only a target ends the run, or no round is done.
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
  // Most important first: text beyond the line is cut off.
  std::string text =
      endless ? fmt::format("round {}", round) : fmt::format("round {}/{}", round, fleet_.rounds);
  text += fmt::format("  {:.1f} rounds/s", rate);
  if (const std::optional<double> left = seconds_left(round, seconds))
    text += "  " + seconds_text(*left) + " left";
  text += fmt::format("  {}/{} peers", alive, fleet_.fleet.size());
  if (latest_ && latest_->mean.accuracy)
    text += fmt::format("  accuracy {:.4f}", *latest_->mean.accuracy);
  if (!latest_ || is_unknown(latest_->mean.loss)) return text;
  return text + fmt::format("  loss {:.4g}", latest_->mean.loss);
}

MixingFigures mixing_figures(const Assembly& fleet) {
  if (fleet.setup->push_sum)
    return of_rate(fleet, "|lambda_2(P)|", [&] { return push_sum(fleet.topology).rate; });
  if (!fleet.shares.empty())
    return of_rate(fleet, "|lambda_2(W)|",
                   [&] { return share_rate(fleet.topology, fleet.shares); });
  if (!fleet.schedule) return of_matrix(fleet);
  const ScheduleRate rate = schedule_rate(*fleet.schedule, samples(fleet));
  const std::string period =
      rate.period > 0 ? fmt::format("period {}, product {:.6g}", rate.period, rate.product)
                      : fmt::format("random, kappa {:.6g} ({})", rate.kappa, rate.method);
  Json json{{"period", rate.period}, {"factor_per_round", rate.per_round}};
  rate.period > 0 ? json["product"] = rate.product : json["kappa"] = rate.kappa;
  json["method"] = rate.method;
  return {.text = fmt::format("{}: {}, factor {:.6g} per round; up to {} neighbours in all",
                              fleet.topology.name, period, rate.per_round,
                              std::ranges::max(fleet.topology.neighbors, {},
                                               [](const auto& list) { return list.size(); })
                                  .size()),
          .name = fleet.topology.name,
          .slem = rate.per_round,
          .gap = 1 - rate.per_round,
          .schedule = std::move(json)};
}

double mean_receivers(const Assembly& fleet, PeerId i) {
  if (!fleet.schedule) return static_cast<double>(fleet.neighborhood(i).receivers.size());
  const std::uint64_t period = fleet.schedule->period();
  const std::uint64_t rounds = period > 0 ? period : static_cast<std::uint64_t>(samples(fleet));
  double sum = 0;
  for (std::uint64_t k = 0; k < rounds; ++k)
    sum += static_cast<double>(fleet.schedule->row(k, fleet.chains.chain(i)).receivers.size());
  return sum / static_cast<double>(rounds);
}

}  // namespace gv::cli
