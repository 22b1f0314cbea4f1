#include "peer/show/live/observed_run.h"

#include <algorithm>
#include <utility>

namespace gv {
namespace {

constexpr auto between_looks = std::chrono::seconds(1);
constexpr double pace_seconds = 5;
constexpr std::size_t n_losses = 32;
/// Peers say where they are four times a second, each at its own moment; in between one is taken to
/// continue at the fleet's pace, for so long.
constexpr double most_guessed_seconds = 0.4;
/// The error of such a guess; a lag below is none.
constexpr double guess_error_seconds = 0.05;

bool runs(const PeerState& peer) {
  using Stage = PeerState::Stage;
  return peer.stage == Stage::training || peer.stage == Stage::stopped;
}

bool lives(const PeerState& peer) {
  return runs(peer) || peer.stage == PeerState::Stage::starting;
}

/// Counts by how many rounds at least each is behind the furthest, as that one was heard.
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
