#include "peer/show/live/observed_run.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/fleet/json/fields.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

constexpr std::string_view schema = "grapevine.live/1";
constexpr std::array<std::string_view, 4> phases{"starting", "training", "stopping", "ended"};
constexpr std::array<std::string_view, 6> stages{"starting", "training",   "stopped",
                                                 "finished", "restarting", "lost"};

}  // namespace

void fields(auto& v, NeighborWait& wait) {
  v("peer", wait.peer), v("late", wait.late), v("wire", wait.wire);
  v.if_any("longest", wait.longest);
}

template <class V>
void fields(V& v, PeerView& view) {
  PeerState& peer = view.state;
  v("peer", peer.id), v("pid", peer.pid), v.word("stage", peer.stage, stages);
  v("round", peer.round), v("lag", view.lag), v("restarts", peer.restarts);
  v.maybe("ending", peer.ending);
  v.if_any("sent_bytes", peer.sent_bytes), v.if_any("out_bytes_per_second", view.out_rate);
  v.if_any("cpu_seconds", view.cpu_seconds), v.if_any("cpu_share", view.cpu_share);
  v.if_any("memory_bytes", view.memory_bytes);
  v.if_any("staleness", peer.staleness), v.if_any("queue", peer.queue);
  if constexpr (V::reads)
    peer.activities = parse_activities(v.json, "states");
  else if (peer.activities)
    v.also("states", json_of(*peer.activities));
  v.maybe("waits", peer.waits);
}

void fields(auto& v, OrderAnswer& answer) {
  v("order", answer.order);
  if (!v.maybe("refused", answer.refused)) v("round", answer.round), v("last", answer.last);
}

void fields(auto& v, RunView& view) {
  RunTitle& title = view.title;
  v.also("schema", schema);
  v("name", title.name), v("folder", title.folder), v("method", title.method);
  v("graph", title.graph), v.word("phase", view.phase, phases);
  v("seconds", view.seconds), v("round", view.round), v.if_any("first", view.first);
  v.if_any("rounds", view.rounds), v("rounds_per_second", view.rate);
  v.also("alive", view.alive());
  v("peers", view.peers);
  if (view.latest) v.also("latest", json_of(*view.latest));
  v.also("losses", view.losses);
  v.maybe("checkpoint", view.checkpoint), v.maybe("record", view.record);
  v.maybe("hosts", title.hosts), v.maybe("stop_seconds", title.stop_seconds);
}

namespace {

constexpr std::size_t most_points = 1024;

double since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Field k, counted from 0, of numbers between single spaces.
double field(std::string_view text, int k) {
  for (; k > 0; --k) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return 0;
    text.remove_prefix(space + 1);
  }
  return std::strtod(text.data(), nullptr);
}

constexpr auto between_looks = std::chrono::seconds(1);
constexpr double pace_seconds = 5;
constexpr std::size_t n_losses = 32;
/// A peer reports its round four times a second, at its own moments. Between reports it is assumed
/// to continue at the fleet's pace, for at most this time.
constexpr double most_guessed_seconds = 0.4;
/// Error of such a guess, seconds. A smaller lag is shown as none.
constexpr double guess_error_seconds = 0.05;

bool runs(const PeerState& peer) {
  using Stage = PeerState::Stage;
  return peer.stage == Stage::training || peer.stage == Stage::stopped;
}

bool lives(const PeerState& peer) {
  return runs(peer) || peer.stage == PeerState::Stage::starting;
}

/// Sets each lag: the least number of rounds by which a peer is later than the furthest.
void add_lags(RunView& view) {
  Round furthest = 0;
  for (const PeerView& p : view.peers) furthest = std::max(furthest, p.state.round);
  for (PeerView& p : view.peers) {
    if (!runs(p.state)) continue;
    const double unheard = std::clamp(view.seconds - p.state.heard, 0.0, most_guessed_seconds);
    const double lag = static_cast<double>(furthest - p.state.round) - view.rate * unheard;
    if (lag >= 1 + view.rate * guess_error_seconds) p.lag = static_cast<Round>(lag);
  }
}

}  // namespace

bool RunView::has_activities() const {
  return std::ranges::any_of(peers,
                             [](const PeerView& p) { return p.state.activities.has_value(); });
}

std::size_t RunView::alive() const {
  using Stage = PeerState::Stage;
  return static_cast<std::size_t>(std::ranges::count_if(peers, [](const PeerView& p) {
    return p.state.stage != Stage::lost && p.state.stage != Stage::restarting;
  }));
}

std::optional<double> RunView::part_over() const {
  std::optional<double> part;
  if (rounds && *rounds > 0) part = static_cast<double>(round) / static_cast<double>(*rounds);
  if (title.stop_seconds && *title.stop_seconds > 0)
    part = std::max(part.value_or(0), seconds / *title.stop_seconds);
  if (part) part = std::clamp(*part, 0.0, 1.0);
  return part;
}

std::optional<double> RunView::seconds_left() const {
  if (phase != FleetState::Phase::training) return {};
  std::optional<double> left;
  if (rounds && rate > 0) left = static_cast<double>(*rounds - std::min(round, *rounds)) / rate;
  if (title.stop_seconds) {
    const double time = std::max(0.0, *title.stop_seconds - seconds);
    left = std::min(left.value_or(time), time);
  }
  return left;
}

std::string_view word_of(FleetState::Phase phase) {
  return phases.at(static_cast<std::size_t>(phase));
}

std::string_view word_of(PeerState::Stage stage) {
  return stages.at(static_cast<std::size_t>(stage));
}

Json json_of(const RunView& view) {
  return to_json(view);
}

RunView parse_view(const JsonValue& json) {
  if (json_text(json, "schema") != schema)
    throw std::runtime_error("its `schema` is not grapevine.live/1: a run of another version");
  RunView view;
  read_json(json, "", view);
  for (std::string& host : view.title.hosts) host = printable(host, 40);
  if (const JsonValue* const latest = json.find("latest")) view.latest = parse_row(*latest);
  for (const JsonValue& loss : json_member(json, "losses").items)
    view.losses.push_back(std::strtod(loss.text.c_str(), nullptr));
  return view;
}

Feed::Feed(std::vector<MetricsRow> past) {
  while (past.size() > most_points) thin_out(past, most_points);
  curve_ = std::make_shared<const std::vector<MetricsRow>>(std::move(past));
}

void Feed::put(FleetState state) {
  auto next = std::make_shared<const FleetState>(std::move(state));
  const std::lock_guard lock(mutex_);
  std::swap(state_, next);
}

void Feed::put(const FleetRecord& record) {
  std::vector<MetricsRow> rows = *curve();
  while (!rows.empty() && rows.back().round >= record.round) rows.pop_back();
  rows.push_back(row_of(record));
  thin_out(rows, most_points);
  auto next = std::make_shared<const std::vector<MetricsRow>>(std::move(rows));
  const std::lock_guard lock(mutex_);
  std::swap(curve_, next);
}

std::shared_ptr<const FleetState> Feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<const std::vector<MetricsRow>> Feed::curve() const {
  const std::lock_guard lock(mutex_);
  return curve_;
}

std::optional<ProcessUsage> usage_of(pid_t pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  std::array<char, 1024> buffer{};
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size() - 1);
  if (count <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  // The second field is the name, which may hold any byte; the last `)` ends it.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 2);  // now field 0 is `state`, the third of proc(5)
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ProcessUsage{.cpu_seconds = (field(text, 11) + field(text, 12)) / ticks,
                      .age_seconds = since_boot() - field(text, 19) / ticks,
                      .memory_bytes = static_cast<std::uint64_t>(field(text, 21)) *
                                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

ObservedRun::ObservedRun(RunTitle title,
                         const Feed& feed,
                         std::function<std::optional<ProcessUsage>(pid_t)> usage)
    : title_(std::move(title)), feed_(feed), usage_of_(std::move(usage)) {}

std::shared_ptr<const RunView> ObservedRun::view(Clock::time_point now) {
  auto state = feed_.state();
  if (!state) state = std::make_shared<const FleetState>();
  if (view_ && state == state_) return view_;
  state_ = state;
  if (!looked_ || now - *looked_ >= between_looks) look_at_processes(*state, now);
  auto view = std::make_shared<RunView>();
  view->title = title_;
  view->phase = state->phase;
  view->seconds = state->seconds;
  view->round = state->round;
  view->first = state->first;
  view->rounds = state->rounds;
  view->rate = rate_of(*state);
  for (const PeerState& peer : state->peers) view->peers.push_back(peer_view(peer, view->rate));
  add_lags(*view);
  const auto curve = feed_.curve();
  if (!curve->empty()) view->latest = curve->back();
  const std::size_t first = curve->size() - std::min(curve->size(), n_losses);
  for (std::size_t k = first; k < curve->size(); ++k) view->losses.push_back((*curve)[k].loss);
  view->checkpoint = state->checkpoint;
  view->record = state->record;
  view_ = view;
  return view_;
}

void ObservedRun::look_at_processes(const FleetState& state, Clock::time_point now) {
  const double passed = looked_ ? std::chrono::duration<double>(now - *looked_).count() : 0;
  looked_ = now;
  for (const PeerState& peer : state.peers) {
    Usage& known = usages_[peer.id];
    const bool same = known.pid == peer.pid && known.last && passed > 0;
    const auto usage = lives(peer) ? usage_of_(peer.pid) : std::nullopt;
    known.share.reset();
    if (usage && same) {
      known.share = std::max(0.0, usage->cpu_seconds - known.last->cpu_seconds) / passed;
    } else if (usage && usage->age_seconds > 0) {
      known.share = usage->cpu_seconds / usage->age_seconds;
    }
    if (usage || known.pid != peer.pid) known.last = usage;
    known.pid = peer.pid;
  }
}

double ObservedRun::rate_of(const FleetState& state) {
  while (!pace_.empty() &&
         (state.seconds - pace_.front().first > pace_seconds || state.round < pace_.front().second))
    pace_.pop_front();
  double rate = state.seconds > state.seconds_before
                    ? static_cast<double>(state.round - std::min(state.round, state.first)) /
                          (state.seconds - state.seconds_before)
                    : 0;
  const bool long_enough = !pace_.empty() && state.seconds - pace_.front().first >= 1;
  if (long_enough && state.phase != FleetState::Phase::ended)
    rate = static_cast<double>(state.round - pace_.front().second) /
           (state.seconds - pace_.front().first);
  pace_.emplace_back(state.seconds, state.round);
  return rate;
}

PeerView ObservedRun::peer_view(const PeerState& peer, double rate) const {
  PeerView view{.state = peer};
  if (const auto found = usages_.find(peer.id);
      found != usages_.end() && found->second.pid == peer.pid && found->second.last) {
    view.cpu_seconds = found->second.last->cpu_seconds;
    view.memory_bytes = found->second.last->memory_bytes;
    if (runs(peer)) view.cpu_share = found->second.share;
  }
  if (peer.sent_bytes && peer.reported > 0 && runs(peer))
    view.out_rate =
        static_cast<double>(*peer.sent_bytes) / static_cast<double>(peer.reported) * rate;
  return view;
}

}  // namespace gv
