#include "gossip/link/link.h"

#include <fmt/format.h>

#include "gossip/link/handshake.h"

namespace gv {
namespace {

/// Number of messages, and share of the sender's memory limit, that may be unacknowledged before a
/// heartbeat acknowledges them.
constexpr std::uint64_t most_unacknowledged = 8;
constexpr std::uint64_t share_unacknowledged = 4;

}  // namespace

Link::Link(PeerId neighbor, LinkShared& shared)
    : neighbor_(neighbor),
      shared_(shared),
      redial_(shared.settings.times.first_redial, shared.settings.times.slowest_redial),
      silence_(shared.settings.times.dead_after) {
  life_.session = shared.settings.rules->new_session();
}

const LinkRules& documented_link_rules() {
  static const LinkRules rules;
  return rules;
}

void Link::say(const std::string& line) {
  if (lines_.spend()) shared_.carrier.say(line);
}

void Link::send(Message message, Time now) {
  if (life_.given_up) return;
  if (message.kind == Kind::model_copy) life_.request.answered();
  const Session::Numbered& numbered = life_.session->send(std::move(message));
  if (linked()) transmit(numbered);
  // on_time() notifies the user, which does not expect to be called while it sends.
  if (overfull()) shared_.wake_at(now);
}

void Link::transmit(const Session::Numbered& numbered) {
  life_.transmitted = std::max(life_.transmitted, numbered.number);
  life_.ack_told = life_.session->received();
  life_.bytes_since_ack = 0;
  shared_.carrier.send(connection_,
                       NumberedMessage{numbered.message, numbered.number, life_.ack_told});
}

void Link::send_heartbeat() {
  if (!linked()) return;
  life_.ack_told = life_.session->received();
  life_.bytes_since_ack = 0;
  const JobCount work = shared_.carrier.work();
  shared_.carrier.send(connection_,
                       Heartbeat{life_.ack_told, shared_.user.clock(), work.jobs, work.working});
}

// ---- Frames.

void Link::arrived(ConnectionId connection, Frame frame, Time now) {
  if (connection_ == 0 || !shared_.settings.rules->takes(connection, connection_)) return;
  if (redial_.state() == Redial::State::dialling) return answered(frame, now);
  const ConnectionId present = connection_;
  silence_.hear_frame(now);
  suspected_ = false;
  const std::string wrong = take(frame, now);
  if (present != connection_) return;
  if (wrong.empty()) return unclog();
  note(LinkEvent::refused);
  shared_.user.refused(neighbor_);
  close();
  lose(wrong, now);
}

std::string Link::take(Frame& frame, Time now) {
  if (auto* message = std::get_if<NumberedMessage>(&frame)) return take_message(*message, now);
  if (const auto* refusal = std::get_if<Refusal>(&frame))
    return "refused: " + printable(refusal->reason);
  const auto* heartbeat = std::get_if<Heartbeat>(&frame);
  if (heartbeat == nullptr) return "a second Hello";
  std::string wrong = take_ack(heartbeat->ack);
  if (wrong.empty()) take_heartbeat(*heartbeat, now);
  return wrong;
}

/// Reports a process that lives and whose arithmetic makes no progress: the deadline of a round
/// lets us continue, and the log shows why.
void Link::take_heartbeat(const Heartbeat& heartbeat, Time now) {
  hear_clock(heartbeat.clock, now);
  const JobCount work{heartbeat.jobs, heartbeat.working};
  if (life_.progress.gets_on(work)) shared_.user.heard_work(neighbor_);
  const Time time = life_.progress.at_hand(work, now);
  if (time < shared_.settings.times.dead_after || !life_.progress.first_word()) return;
  say(fmt::format("peer {}: its process lives, and its arithmetic has been at one job for {:.1f} s",
                  neighbor_, in_seconds(time)));
}

std::string Link::take_ack(std::uint64_t ack) {
  const std::uint64_t before = life_.session->acknowledged();
  if (!life_.session->acknowledge(ack)) return "an acknowledgement of what was never sent";
  life_.request.acknowledged(*life_.session);
  if (life_.session->acknowledged() > before) redial_.useful();
  return "";
}

std::string Link::take_message(NumberedMessage& frame, Time now) {
  Message& message = frame.message;
  if (message.from != neighbor_) return "a message in another peer's name";
  if (message.degree >= shared_.settings.self.peers)
    return fmt::format("a degree of {} in a fleet of {}", message.degree,
                       shared_.settings.self.peers);
  if (std::string wrong = take_ack(frame.ack); !wrong.empty()) return wrong;
  switch (life_.session->arrive(frame.number)) {
    case Session::Arrival::again:
      note(LinkEvent::repetition);
      return "";
    case Session::Arrival::gap:
      return fmt::format("message {} after {}", frame.number, life_.session->received());
    case Session::Arrival::next:
      break;
  }
  if (message.kind == Kind::fetch && !life_.request.asked())
    return "it asks for our model again while the answer is on its way";
  if (message.kind == Kind::goodbye && (message.part & stays_for_half) == 0) {
    life_.departed = true;
    life_.finished = (message.part & leaves_early) == 0;
    shared_.clocks.leaves(neighbor_);
  }
  life_.bytes_since_ack += message.payload ? message.payload->size() : 0;
  hear_clock(message.round, now);
  const std::uint64_t number = message.number;
  const ConnectionId connection = connection_;
  const bool expected = shared_.user.deliver(std::move(message));
  if (!expected && !shared_.ending)
    return fmt::format("a message with the unexpected number {}", number);
  redial_.useful();
  if (connection == connection_ && owes_ack()) send_heartbeat();
  return "";
}

void Link::hear_clock(Round clock, Time now) {
  LinkUser& user = shared_.user;
  user.heard_round(neighbor_,
                   shared_.clocks.believe(neighbor_, clock, user.clock(), now, user.done()));
}

bool Link::owes_ack() const {
  const std::uint64_t most = shared_.settings.most_unacknowledged_bytes / share_unacknowledged;
  return life_.departed || life_.session->received() - life_.ack_told >= most_unacknowledged ||
         life_.bytes_since_ack >= most;
}

bool Link::overfull() const {
  return life_.session->unacknowledged_bytes() > shared_.settings.most_unacknowledged_bytes;
}

bool Link::hopeless() const {
  if (state_ == State::linked || state_ == State::broken) return false;
  return shared_.settings.rules->gives_up(*life_.session, life_.allowed_bytes);
}

/// The user continues without the neighbour, so messages kept for it may exceed the limit once
/// more; then it is given up.
void Link::allow_as_much_again() {
  const std::uint64_t most = shared_.settings.most_unacknowledged_bytes;
  const std::uint64_t kept = std::max(most, life_.session->unacknowledged_bytes());
  life_.allowed_bytes = kept + std::min(most, std::numeric_limits<std::uint64_t>::max() - kept);
}

std::string Link::unacknowledged() const {
  return fmt::format("it has not acknowledged {} bytes that we sent",
                     life_.session->unacknowledged_bytes());
}

void Link::unclog() {
  if (state_ != State::clogged || overfull()) return;
  state_ = State::linked;
  tell_back();
}

// ---- The end of a connection.

void Link::ended(ConnectionId connection, const std::string& why, Time now) {
  if (connection != connection_) return;
  if (redial_.state() == Redial::State::dialling) return give_up_dial(why, now);
  lose(why, now);
}

void Link::close() {
  if (connection_ != 0) shared_.carrier.close(connection_);
  forget();
}

void Link::forget() {
  if (connection_ == 0) return;
  shared_.neighbor_of.erase(last_connection_);
  last_connection_ = std::exchange(connection_, 0);
}

/// Handles a connection that has ended or is closed already.
void Link::lose(const std::string& why, Time now) {
  forget();
  trouble_ = why;
  note(LinkEvent::lost);
  if (!quiet()) say(fmt::format("connection to peer {} lost: {}", neighbor_, why));
  if (state_ == State::clogged) {
    state_ = State::away;
    away_since_ = now;
  } else {
    state_ = State::broken;
    broken_until_ = now + shared_.settings.times.reconnect_within;
    shared_.wake_at(broken_until_);
  }
  we_dial() ? dial(now) : shared_.carrier.probe(neighbor_);
}

void Link::set_away(const std::string& why, Time now) {
  if (state_ != State::linked && state_ != State::broken) return;
  if (!quiet()) say(fmt::format("peer {} is away ({})", neighbor_, why));
  state_ = State::away;
  away_since_ = now;
  shared_.clocks.goes_away(neighbor_);
  allow_as_much_again();
  shared_.wake_at(now + shared_.settings.times.patience);
  note(LinkEvent::away);
  if (!life_.departed) shared_.user.away(neighbor_);
}

void Link::go_without(const std::string& why, Time now) {
  if (linked()) {
    close();
    lose(why, now);
  }
  set_away(why, now);
}

void Link::nobody_listens(const std::string& why, Time now) {
  if (linked() || state_ == State::dead || !shared_.begun) return;
  set_away(why, now);
  if (state_ == State::away) say_dead();
}

void Link::hear_refused(const Hello& theirs, const std::string& why, Time now) {
  const bool other = met() && theirs.incarnation != incarnation_;
  if (other && !shared_.settings.successors) nobody_listens(why, now);
}

void Link::say_dead() {
  state_ = State::dead;
  shared_.clocks.leaves(neighbor_);
  note(LinkEvent::died);
  if (!life_.finished) shared_.user.died(neighbor_);
}

/// Drops the kept messages, so this process of the neighbour can never be met again. A method may
/// keep sending to a peer that continues, and a liar continues without acknowledging.
void Link::give_up(Time now) {
  const std::string why = unacknowledged();
  if (!quiet()) say(fmt::format("peer {} is given up: {}", neighbor_, why));
  go_without(why, now);
  life_.given_up = true;
  life_.session = shared_.settings.rules->new_session();
  if (state_ == State::away) say_dead();
}

void Link::cut(Time until, Time now) {
  cut_until_ = until;
  if (!linked()) return;
  close();
  lose("cut by faults.inject", now);
}

// ---- Time.

void Link::beat(Time lag, Time now) {
  if (const int more = lines_.renew(); more > 0)
    shared_.carrier.say(fmt::format("peer {}: {} more such lines", neighbor_, more));
  // A process that dies still listens for a moment when its connections are closed already.
  if (state_ == State::away && !we_dial()) shared_.carrier.probe(neighbor_);
  if (!linked()) return;
  silence_.grant(lag);
  send_heartbeat();
  const Silence::State silence = silence_.state(now);
  if (silence == Silence::State::heard) return;
  const std::string text = fmt::format("no message for {:.1f} s", in_seconds(silence_.length(now)));
  if (!std::exchange(suspected_, true) && !quiet())
    say(fmt::format("peer {}: {}", neighbor_, text));
  if (silence != Silence::State::silent) return;
  note(LinkEvent::silent);
  go_without(text, now);
}

void Link::on_time(Time now) {
  if (hopeless()) give_up(now);
  if ((state_ == State::linked || state_ == State::broken) && overfull())
    go_without(unacknowledged(), now);
  if (state_ == State::broken && now >= broken_until_) set_away(trouble_, now);
  if (redial_.state() == Redial::State::dialling && now >= dial_ends_) {
    close();
    give_up_dial("no answer", now);
  }
  if (redial_.state() == Redial::State::pausing && now >= redial_.due()) dial_now(now);
}

Time Link::next(Time now) const {
  Time next = Time::max();
  if (state_ == State::broken) next = std::min(next, broken_until_);
  if (redial_.state() == Redial::State::dialling) next = std::min(next, dial_ends_);
  if (redial_.state() == Redial::State::pausing) next = std::min(next, redial_.due());
  const Time patience_ends = awaited_since() + shared_.settings.times.patience;
  if (shared_.ending && is_away() && patience_ends > now) next = std::min(next, patience_ends);
  return next;
}

// ---- The start and the end.

void Link::begin_without(Time now) {
  if (state_ != State::unmet) return;
  state_ = State::away;
  away_since_ = now;
  shared_.clocks.goes_away(neighbor_);
  allow_as_much_again();
  shared_.user.away(neighbor_);
}

Time Link::awaited_since() const {
  return std::max(away_since_, shared_.user.finishing_since());
}

bool Link::may_leave(Time now) const {
  const Farewell farewell{.told = life_.session->unacknowledged().empty(),
                          .heard = life_.departed,
                          .linked = linked(),
                          .dead = state_ == State::dead,
                          .away = is_away(),
                          .since = awaited_since()};
  return shared_.settings.rules->may_leave(farewell, now, shared_.settings.times.patience);
}

void Link::say_awaited() {
  if (!is_away() || std::exchange(awaited_, true)) return;
  shared_.carrier.say(fmt::format(
      "done; peer {} is away and has not received all that we sent: waiting up to {:.1f} s",
      neighbor_, in_seconds(shared_.settings.times.patience)));
}

void Link::say_not_back() const {
  if (!awaited_ || state_ != State::away || life_.departed) return;
  shared_.carrier.say(fmt::format(
      "peer {} is not back in time: its last exchange with us may count at our end only",
      neighbor_));
}

}  // namespace gv
