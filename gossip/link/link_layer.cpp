#include "gossip/link/link_layer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gossip/link/carrier.h"
#include "optim/check.h"

namespace gv {

LinkLayer::LinkLayer(LinkSettings settings, Carrier& carrier, LinkUser& user, std::uint64_t seed)
    : settings_(std::move(settings)),
      shared_{.settings = settings_,
              .carrier = carrier,
              .user = user,
              .clocks = {settings_.neighbors.size(), settings_.rounds, settings_.slack,
                         settings_.rejoin},
              .jitter = Rng(seed).derive("redial").derive(settings_.self.peer),
              .neighbor_of = {}},
      pending_(settings_.most_strangers, settings_.strangers_of_one) {
  GV_CHECK(settings_.self.incarnation != 0, "0 means: not met yet");
  for (const PeerId neighbor : settings_.neighbors) links_.try_emplace(neighbor, neighbor, shared_);
}

// ---- From the peer.

void LinkLayer::start(Time now) {
  connect_until_ = now + settings_.times.connect;
  next_beat_ = now + settings_.times.heartbeat;
  next_join_ = now + settings_.times.join_within;
  for (auto& [neighbor, link] : links_)
    if (settings_.dials(neighbor)) link.dial(now);
  begin_when_complete();
  wake_again(now);
}

void LinkLayer::send(PeerId to, Message message, Time now) {
  links_.at(to).send(std::move(message), now);
}

void LinkLayer::end(Time now) {
  shared_.ending = true;
  farewell_until_ = now + settings_.times.farewell;
  wake_again(now);
  leave_when_told(now);
}

void LinkLayer::cut(PeerId neighbor, Time until, Time now) {
  const auto at = links_.find(neighbor);
  if (at != links_.end() && !shared_.over) at->second.cut(until, now);
}

// ---- From the carrier.

Link* LinkLayer::link_of(ConnectionId connection) {
  const auto at = shared_.neighbor_of.find(connection);
  return at == shared_.neighbor_of.end() || shared_.over ? nullptr : &links_.at(at->second);
}

void LinkLayer::connected(ConnectionId connection, Time) {
  if (Link* link = link_of(connection)) link->connected();
}

ConnectionId LinkLayer::accepted(const std::string& host,
                                 std::uint16_t port,
                                 Time now,
                                 const Coming& coming) {
  const ConnectionId connection = ++shared_.connections;
  const Time latest = now + settings_.times.handshake;
  const Time deadline = std::min(latest, now + settings_.times.first_byte);
  const std::optional<ConnectionId> evicted =
      pending_.admit({.connection = connection,
                      .host = host,
                      .origin = coming.origin.empty() ? host : coming.origin,
                      .port = port,
                      .deadline = deadline,
                      .latest = latest,
                      .known = coming.known},
                     coming.crowded);
  if (evicted) shared_.carrier.close(*evicted);
  shared_.wake_at(deadline);
  return connection;
}

void LinkLayer::arrived(ConnectionId connection, Frame frame, Time now) {
  if (Link* link = link_of(connection)) {
    link->arrived(connection, std::move(frame), now);
  } else if (!shared_.over) {
    greet(connection, frame, now);
  }
  if (!shared_.begun) begin_when_complete();
  if (shared_.ending) leave_when_told(now);
}

void LinkLayer::hear_bytes(ConnectionId connection, std::uint64_t bytes, Time now) {
  if (Link* link = link_of(connection)) return link->hear_bytes(connection, bytes, now);
  PendingConnection* const pending = pending_.find(connection);
  if (pending == nullptr || std::exchange(pending->spoke, true)) return;
  pending->deadline = pending->latest;
  shared_.wake_at(pending->deadline);
}

void LinkLayer::no_frame(ConnectionId connection) {
  const auto at = shared_.neighbor_of.find(connection);
  if (at != shared_.neighbor_of.end() && !shared_.over) shared_.user.refused(at->second);
}

void LinkLayer::ended(ConnectionId connection, const std::string& why, Time now) {
  if (Link* link = link_of(connection)) {
    link->ended(connection, why, now);
    return leave_when_told(now);
  }
  const PendingConnection* pending = pending_.find(connection);
  if (pending == nullptr) return;
  // A caller that sends nothing checks whether we live, as a neighbour does that we dial.
  const bool probe = !pending->spoke;
  if (pending->state == PendingConnection::State::awaited && !probe) say_refusal(*pending, why);
  pending_.remove(connection);
}

void LinkLayer::nobody_listens(PeerId neighbor, const std::string& why, Time now) {
  if (shared_.over) return;
  links_.at(neighbor).nobody_listens(why, now);
  leave_when_told(now);
}

// ---- Connections whose owner is not known yet.

/// Returns why this dialler may not come in; empty if it may. A known process whose connection
/// broke may always: it would not dial if it still had one.
std::string LinkLayer::objection(const Frame& frame, Time now) const {
  const auto* theirs = std::get_if<Hello>(&frame);
  if (theirs == nullptr) return "the first frame is no Hello";
  std::string reason = disagreement(settings_.self, *theirs);
  if (!reason.empty()) return reason;
  const auto at = links_.find(theirs->peer);
  if (at == links_.end() || settings_.dials(theirs->peer))
    return fmt::format("peer {} does not dial peer {} in this topology", theirs->peer,
                       settings_.self.peer);
  return at->second.objection(*theirs, now);
}

void LinkLayer::greet(ConnectionId connection, const Frame& frame, Time now) {
  PendingConnection* pending = pending_.find(connection);
  if (pending == nullptr || pending->state == PendingConnection::State::refused) return;
  const std::string reason = objection(frame, now);
  const auto* theirs = std::get_if<Hello>(&frame);
  if (reason.empty()) {
    pending_.remove(connection);
    Link& link = links_.at(theirs->peer);
    shared_.carrier.send(connection, link.hello());
    return link.adopt(connection, *theirs, now);
  }
  const auto claimed = theirs == nullptr ? links_.end() : links_.find(theirs->peer);
  if (claimed != links_.end() && !claimed->second.linked()) {
    claimed->second.set_trouble(reason);
    shared_.user.refused(theirs->peer);
    const bool fits = disagreement(settings_.self, *theirs).empty();
    if (fits && !settings_.dials(theirs->peer)) claimed->second.hear_refused(*theirs, reason, now);
  }
  say_refusal(*pending, reason);
  pending->state = PendingConnection::State::refused;
  shared_.carrier.send(connection, Refusal{reason});
  shared_.carrier.finish(connection);
}

void LinkLayer::say_refusal(const PendingConnection& pending, const std::string& reason) {
  if (shared_.ending || !pending_lines_.spend()) return;
  const bool v6 = pending.host.find(':') != std::string::npos;
  shared_.carrier.say(fmt::format("refused a connection from {}{}{}:{}: {}", v6 ? "[" : "",
                                  pending.host, v6 ? "]" : "", pending.port, reason));
}

void LinkLayer::dismiss_overdue(Time now) {
  for (const PendingConnection& pending : pending_.overdue(now)) {
    if (pending.state == PendingConnection::State::awaited)
      say_refusal(pending, "no Hello in time");
    shared_.carrier.close(pending.connection);
  }
}

// ---- The start.

void LinkLayer::begin() {
  shared_.begun = true;
  shared_.carrier.begin();
}

void LinkLayer::begin_when_complete() {
  const bool complete = std::ranges::all_of(links_, [](const auto& l) { return l.second.met(); });
  if (complete && !shared_.begun && !shared_.over) begin();
}

/// A fleet that trains already does not wait for its last member, nor this peer for dead ones: a
/// neighbour that is not there yet counts as away.
void LinkLayer::begin_with_some(Time now) {
  next_join_ = now + settings_.times.join_within;
  const auto enough = [this](const auto& l) {
    return l.second.met() && (settings_.rejoin || l.second.trained());
  };
  if (std::ranges::none_of(links_, enough)) return;
  shared_.begun = true;
  for (auto& [neighbor, link] : links_) link.begin_without(now);
  shared_.carrier.begin();
}

std::string LinkLayer::missing() const {
  std::string text;
  for (const auto& [neighbor, link] : links_) {
    if (link.met()) continue;
    text += fmt::format("{}peer {}{}", text.empty() ? "" : ", ", neighbor,
                        link.trouble().empty() ? "" : fmt::format(" ({})", link.trouble()));
  }
  return text;
}

// ---- Time.

void LinkLayer::on_time(Time now) {
  shared_.armed = Time::max();
  if (shared_.over) return;
  dismiss_overdue(now);
  for (auto& [neighbor, link] : links_) link.on_time(now);
  if (!shared_.begun && settings_.successors && now >= next_join_) begin_with_some(now);
  if (!shared_.begun && !shared_.over && now >= connect_until_) {
    shared_.over = true;
    return shared_.carrier.fail("not connected in time: " + missing());
  }
  if (now >= next_beat_) beat(now);
  leave_when_told(now);
  wake_again(now);
}

/// Sends every neighbour a sign of life, and checks which have been silent. A loop that was late
/// itself receives late, so its lag is granted to all.
void LinkLayer::beat(Time now) {
  const Time lag = now - next_beat_;
  next_beat_ = now + settings_.times.heartbeat;
  for (auto& [neighbor, link] : links_) link.beat(lag, now);
  if (const int more = pending_lines_.renew(); more > 0)
    shared_.carrier.say(fmt::format("refused {} more connections", more));
}

void LinkLayer::wake_again(Time now) {
  if (shared_.over) return;
  Time next = next_beat_;
  if (!shared_.begun) next = std::min(next, connect_until_);
  if (!shared_.begun && settings_.successors) next = std::min(next, next_join_);
  if (shared_.ending) next = std::min(next, farewell_until_);
  next = std::min(next, pending_.next_deadline().value_or(next));
  for (const auto& [neighbor, link] : links_) next = std::min(next, link.next(now));
  shared_.wake_at(next);
}

// ---- The end.

/// Leaves when no message is owed (link_settings.h), or the wait for all receivers has ended.
void LinkLayer::leave_when_told(Time now) {
  if (!shared_.ending || shared_.over) return;
  bool done = true;
  for (auto& [neighbor, link] : links_) {
    const bool leave = link.may_leave(now);
    if (!leave) link.say_awaited();
    done = done && leave;
  }
  if (done) {
    for (const auto& [neighbor, link] : links_) link.say_not_back();
    return leave();
  }
  if (now < farewell_until_) return;
  std::string unheard;
  for (const auto& [neighbor, link] : links_)
    if (!link.departed())
      unheard += fmt::format("{}peer {}", unheard.empty() ? "" : ", ", neighbor);
  shared_.carrier.say("leaving without the goodbye of " + unheard);
  leave();
}

void LinkLayer::leave() {
  shared_.over = true;
  shared_.carrier.leave();
}

}  // namespace gv
