#include <utility>

#include <fmt/format.h>

#include "gossip/link/carrier.h"
#include "gossip/link/handshake.h"
#include "gossip/link/link.h"

// A link gets its connection by dialling or from the neighbour's dial, after a Hello that fits.

namespace gv {

// ---- Dialling.

void Link::dial(Time now) {
  redial_.wanted(now, shared_.jitter);
  shared_.wake_at(next(now));
}

void Link::dial_now(Time now) {
  redial_.dialled();
  if (now < cut_until_) return give_up_dial("cut by faults.inject", now);
  connection_ = ++shared_.connections;
  shared_.neighbor_of[connection_] = neighbor_;
  dial_ends_ = now + shared_.settings.times.handshake;
  shared_.wake_at(dial_ends_);
  shared_.carrier.dial(neighbor_, connection_);
}

void Link::connected() {
  shared_.carrier.send(connection_, hello());
}

/// The attempt's connection has ended, or is closed already, or there was none.
void Link::give_up_dial(const std::string& why, Time now) {
  forget();
  trouble_ = why;
  refusing_ = false;
  redial_.failed(now, shared_.jitter);
  if (state_ == State::dead && life_.finished) redial_.rest();
  shared_.wake_at(next(now));
}

void Link::answered(const Frame& frame, Time now) {
  const auto* theirs = std::get_if<Hello>(&frame);
  std::string reason;
  bool fits = false;
  if (const auto* refusal = std::get_if<Refusal>(&frame)) {
    reason = printable(refusal->reason);
  } else if (theirs == nullptr) {
    reason = "the first frame is no Hello";
  } else {
    reason = disagreement(shared_.settings.self, *theirs);
    if (reason.empty() && theirs->peer != neighbor_)
      reason = fmt::format("peer {} answers at that address", theirs->peer);
    fits = reason.empty();
    if (fits) reason = objection(*theirs, now);
    if (reason.empty()) return adopt(connection_, *theirs, now);
  }
  close();
  if (fits) hear_refused(*theirs, reason, now);
  refused(reason, now);
}

/// A neighbour that has not yet missed our predecessor refuses us until it has.
Time Link::refusal_patience() const {
  const LinkTimes& times = shared_.settings.times;
  return shared_.settings.rejoin ? times.refused_for + times.dead_after : times.refused_for;
}

void Link::refused(const std::string& reason, Time now) {
  const bool refused_before = refusing_;
  const bool news = trouble_ != reason;
  give_up_dial(reason, now);
  refusing_ = true;
  if (!refused_before) refused_since_ = now;
  const std::string text =
      fmt::format("peer {} at {} and this peer {} do not fit: {}", neighbor_,
                  shared_.carrier.address(neighbor_), shared_.settings.self.peer, reason);
  if (shared_.begun) {
    shared_.user.refused(neighbor_);
    if (news) say(text);
    set_away(reason, now);
  } else if (now - refused_since_ >= refusal_patience()) {
    shared_.over = true;
    shared_.carrier.fail_unfit(text);
  }
}

// ---- The beginning of a connection.

Hello Link::hello() const {
  Hello hello = shared_.settings.self;
  hello.neighbor_incarnation = incarnation_;
  hello.received = life_.session->received();
  hello.clock = shared_.user.clock();
  return hello;
}

/// Returns the greatest number that the neighbour has received in the session with our process.
std::uint64_t Link::received_by(const Hello& theirs) const {
  return theirs.neighbor_incarnation == shared_.settings.self.incarnation ? theirs.received : 0;
}

std::string Link::objection(const Hello& theirs, Time now) const {
  const PeerId self = shared_.settings.self.peer;
  if (now < cut_until_) return fmt::format("peers {} and {} are cut off", neighbor_, self);
  if (life_.given_up && incarnation_ == theirs.incarnation)
    return fmt::format("peer {} acknowledged too little, and was given up", neighbor_);
  if (incarnation_ == 0 || incarnation_ == theirs.incarnation) {
    const std::uint64_t received = received_by(theirs);
    const std::uint64_t sent = met() ? life_.session->sent() : 0;
    if (received <= sent && received >= life_.session->acknowledged()) return "";
    return fmt::format(
        "peer {} reports {} received messages, but {} were sent and it has acknowledged {}",
        neighbor_, received, sent, life_.session->acknowledged());
  }
  const bool silent = silence_.length(now) > 2 * shared_.settings.times.heartbeat;
  if (linked() && !silent) return fmt::format("peer {} is already here", neighbor_);
  if (!shared_.settings.successors)
    return fmt::format(
        "peer {} was here before and has lost its state, all of which this algorithm needs",
        neighbor_);
  if (life_.finished || shared_.ending)
    return fmt::format("this run ends without peer {}", neighbor_);
  return received_by(theirs) == 0 ? "" : "a new process with messages of the one before";
}

void Link::adopt(ConnectionId connection, const Hello& theirs, Time now) {
  if (connection_ != connection) close();
  connection_ = connection;
  shared_.neighbor_of[connection] = neighbor_;
  shared_.carrier.admit(connection, neighbor_, theirs);
  const LinkRules& rules = *shared_.settings.rules;
  const bool successor = rules.succeeds(incarnation_, theirs.incarnation);
  const bool first_meeting = theirs.incarnation != incarnation_;
  incarnation_ = theirs.incarnation;
  if (successor) {
    life_ = {};
    life_.session = rules.new_session();
    life_.progress.at_hand({}, now);  // its present job has begun just now, at the earliest
  }
  life_.trained = theirs.clock > 0;
  life_.ack_told = life_.session->received();
  redial_.linked(now);
  silence_.hear_frame(now);
  suspected_ = refusing_ = false;
  shared_.clocks.returns(neighbor_);
  life_.session->acknowledge(received_by(theirs));
  life_.request.acknowledged(*life_.session);
  const State before = std::exchange(state_, State::linked);
  const bool was_away = before == State::away || before == State::dead || before == State::clogged;
  if (was_away && overfull()) state_ = State::clogged;
  for (const Session::Numbered& numbered : life_.session->unacknowledged()) {
    if (!rules.sends_again()) break;
    note(LinkEvent::sent_again);
    // Messages kept while the neighbour was absent are sent for the first time.
    if (numbered.number <= life_.transmitted) shared_.carrier.repeats(neighbor_, numbered.message);
    transmit(numbered);
  }
  // A Hello overtakes the messages that are sent again after it, and a round does not wait for a
  // peer that is beyond it. So the next heartbeat brings a present process's clock.
  if (first_meeting || was_away) hear_clock(theirs.clock, now);
  if (successor) {
    say(fmt::format("peer {} is back as a new process", neighbor_));
    note(LinkEvent::replaced);
    shared_.user.replaced(neighbor_);
  } else if (was_away && state_ == State::linked) {
    tell_back();
  }
}

void Link::tell_back() {
  if (!quiet()) say(fmt::format("peer {} is back", neighbor_));
  note(LinkEvent::back);
  shared_.user.back(neighbor_);
}

}  // namespace gv
