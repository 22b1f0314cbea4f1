#include <algorithm>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <fmt/format.h>

#include "gossip/farewell.h"
#include "peer/tcp/tcp_world_impl.h"

namespace gv {

std::string TcpWorldImpl::take_frame(PeerId id, wire::Header header) {
  Edge& edge = edges_.at(id);
  edge.heard = Clock::now();
  edge.suspected = false;
  const bool message = header.kind == wire::FrameKind::message;
  if (!message) {
    peer_->heard_round(id, header.heartbeat.step);
    look_after(edge, header.heartbeat);
  }
  if (message && header.message.from != id) return "a message in another peer's name";
  const std::uint64_t ack = message ? header.numbers.ack : header.heartbeat.ack;
  if (!edge.session.acknowledge(ack)) return "an acknowledgement of what was never sent";
  const std::string wrong = message ? take_message(edge, header) : "";
  if (ending_) take_leave();
  return wrong;
}

std::string TcpWorldImpl::take_message(Edge& edge, wire::Header& header) {
  constexpr std::uint64_t most_unacknowledged = 8;
  switch (edge.session.arrive(header.numbers.number)) {
    case Session::Arrival::again:
      return "";
    case Session::Arrival::gap:
      return fmt::format("message {} after {}", header.numbers.number, edge.session.received());
    case Session::Arrival::next:
      break;
  }
  const std::uint64_t number = header.message.number;
  edge.departed = edge.departed || header.message.kind == Kind::goodbye;
  if (!peer_->deliver(std::move(header.message)) && !ending_)
    return fmt::format("a message of number {} that nobody expects", number);
  if (edge.departed || edge.session.received() - edge.ack_told >= most_unacknowledged)
    send_heartbeat(edge);
  return "";
}

void TcpWorldImpl::link_ended(PeerId id, const std::string& error) {
  Edge& edge = edges_.at(id);
  edge.trouble = error.empty() ? "it closed the connection" : error;
  if (edge.departed) return take_leave();
  const std::shared_ptr<TcpLink> old = std::exchange(edge.link, nullptr);
  old->close();
  if (!ending_) options_.log(fmt::format("connection to peer {} lost: {}", id, edge.trouble));
  if (id > options_.hello.peer) {
    start_dialling(id);
  } else {
    asio::co_spawn(io_, knock(id), asio::detached);
  }
  after(options_.reconnect_within, [this, id, outage = ++edge.outages] {
    const Edge& now = edges_.at(id);
    if (!now.linked() && now.outages == outage) set_away(id, now.trouble);
  });
}

void TcpWorldImpl::cut(PeerId neighbor, Time length) {
  const auto at = edges_.find(neighbor);
  if (at == edges_.end()) return;
  at->second.cut_until = Clock::now() + length;
  if (at->second.linked()) link_ended(neighbor, "cut by faults.inject");
}

void TcpWorldImpl::set_away(PeerId id, const std::string& why) {
  Edge& edge = edges_.at(id);
  if (edge.departed || edge.incarnation == 0 || std::exchange(edge.away, true)) return;
  if (!ending_) options_.log(fmt::format("peer {} is away ({}): going on without it", id, why));
  edge.away_since = now();
  peer_->away(id);
  take_leave();
}

void TcpWorldImpl::set_dead(PeerId id, const std::string& why) {
  if (std::exchange(edges_.at(id).dead, true)) return;
  set_away(id, why);
  peer_->died(id);
  take_leave();
}

/// A process that lives and whose arithmetic does not get on: the deadline of a round lets us go
/// on, and who reads the log is told why it had to.
void TcpWorldImpl::look_after(Edge& edge, const wire::Heartbeat& heartbeat) {
  const auto time = edge.progress.at_hand(heartbeat.jobs, heartbeat.working, Clock::now());
  if (time < options_.dead_after || !edge.progress.first_word()) return;
  options_.log(
      fmt::format("peer {}: its process lives, and its arithmetic has been at one job for {:.1f} s",
                  edge.peer,
                  std::chrono::duration<double>(time).count()));
}

void TcpWorldImpl::look_after_own() {
  for (Work& work : work_) {
    const auto time = work.progress.at_hand(work.done(), work.working(), Clock::now());
    if (options_.stuck_after <= Time{0} || time < options_.stuck_after) continue;
    if (!work.progress.first_word()) continue;
    options_.log(
        fmt::format("the arithmetic has been at one job for {:.1f} s, in round {}: giving up "
                    "(faults.stuck_after)",
                    std::chrono::duration<double>(time).count(),
                    peer_->step));
    options_.on_stuck();
  }
}

/// Tells every neighbour that we live, and looks whom we have not heard. A loop that was itself
/// held up hears late: its own lag is granted to all.
void TcpWorldImpl::beat() {
  const Clock::time_point now = Clock::now();
  const auto lag = std::max(Clock::duration{0}, now - next_beat_);
  for (auto& [id, edge] : edges_) {
    if (ending_ && edge.away && id < options_.hello.peer)
      asio::co_spawn(io_, knock(id), asio::detached);
    if (!edge.linked()) continue;
    edge.heard += lag;
    send_heartbeat(edge);
    const auto silence = now - edge.heard;
    if (edge.departed || silence < options_.dead_after * 2 / 5) continue;
    const std::string text =
        fmt::format("nothing heard for {:.1f} s", std::chrono::duration<double>(silence).count());
    if (!std::exchange(edge.suspected, true)) options_.log(fmt::format("peer {}: {}", id, text));
    if (silence < options_.dead_after) continue;
    link_ended(id, text);
    set_away(id, text);
  }
  look_after_own();
  take_leave();
  if (refusals_ > most_refusals)
    options_.log(fmt::format("refused {} more connections", refusals_ - most_refusals));
  refusals_ = 0;
  next_beat_ = now + options_.heartbeat;
  after(options_.heartbeat, [this] { beat(); });
}

void TcpWorldImpl::send_heartbeat(Edge& edge) {
  if (!edge.linked()) return;
  edge.ack_told = edge.session.received();
  std::uint64_t jobs = 0;
  for (const Work& work : work_) jobs += work.done();
  put(edge,
      {wire::encode(wire::Heartbeat{.ack = edge.ack_told,
                                    .step = peer_->clock(),
                                    .jobs = jobs,
                                    .working = std::ranges::any_of(work_, &Work::working)}),
       nullptr});
}

void TcpWorldImpl::end_loop() {
  ending_ = true;
  after(options_.farewell_deadline, [this] {
    options_.log("leaving without the goodbye of " + unheard());
    io_.stop();
  });
  take_leave();
}

/// Ends each link when its neighbour has everything, and leaves when no link is left and nothing is
/// owed (farewell.h).
void TcpWorldImpl::take_leave() {
  if (!ending_) return;
  bool done = true;
  for (auto& [id, edge] : edges_) {
    const bool heard_out = edge.linked() && edge.link->ended();
    if (edge.linked() && (heard_out || edge.session.unacknowledged().empty())) edge.link->finish();
    const bool leave = !edge.linked() && may_leave(edge);
    if (!leave && edge.away) say_awaited(edge);
    done = done && leave;
  }
  if (!done) return;
  for (const auto& [id, edge] : edges_)
    if (edge.awaited && edge.away && !edge.dead && !edge.departed)
      options_.log(fmt::format(
          "peer {} is not back in time: its last exchange with us may count at our end only", id));
  io_.stop();
}

void TcpWorldImpl::say_awaited(Edge& edge) {
  if (std::exchange(edge.awaited, true)) return;
  options_.log(
      fmt::format("done; peer {} is away and has not got all that we sent: waiting up to {:.1f} s",
                  edge.peer,
                  std::chrono::duration<double>(options_.patience).count()));
}

bool TcpWorldImpl::may_leave(const Edge& edge) const {
  const Farewell farewell{.told = edge.session.unacknowledged().empty(),
                          .heard = edge.departed,
                          .linked = edge.linked(),
                          .dead = edge.dead,
                          .away = edge.away,
                          .since = std::max(edge.away_since, peer_->finishing_since())};
  return gv::may_leave(farewell, now(), options_.patience);
}

std::string TcpWorldImpl::unheard() const {
  std::string text;
  for (const auto& [id, edge] : edges_)
    if (!edge.departed) text += fmt::format("{}peer {}", text.empty() ? "" : ", ", id);
  return text;
}

}  // namespace gv
