#pragma once

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gossip/algorithm.h"
#include "gossip/life/presence.h"
#include "gossip/link/link_layer.h"
#include "gossip/peer.h"
#include "optim/check.h"
#include "optim/replica/host_replica.h"
#include "peer/wire/frame/frame.h"

namespace gv::fuzz {

/// Passes on the calls of the link layer to its user, and checks that each is allowed (link.h):
/// away() only for a peer that is present, back() and died() only for one that is absent, died()
/// once. After a goodbye there is no away(), and died() is allowed only if the peer left before its
/// last round.
class CheckedUser : public LinkUser {
 public:
  explicit CheckedUser(Peer& peer) : peer_(peer) {}

  bool deliver(Message message) override {
    if (message.kind == Kind::goodbye) {
      departed_[message.from] = true;
      const bool early = (message.part & leaves_early) != 0;
      left_early_[message.from] = early && (message.part & stays_for_half) == 0;
    }
    return peer_.deliver(std::move(message));
  }
  void heard_round(PeerId from, Round round) override { peer_.heard_round(from, round); }
  void heard_work(PeerId from) override { peer_.heard_work(from); }
  void away(PeerId from) override {
    GV_CHECK(!std::exchange(absent_[from], true), "told away once");
    peer_.away(from);
  }
  void died(PeerId from) override {
    GV_CHECK(absent_[from] || left_early_[from], "who dies is away, or has left early");
    GV_CHECK(!std::exchange(dead_[from], true), "told dead once");
    absent_[from] = true;
    peer_.died(from);
  }
  void back(PeerId from) override {
    const bool was_away = std::exchange(absent_[from], false);
    dead_[from] = false;
    GV_CHECK(was_away || departed_[from], "who is back was away");
    peer_.back(from);
  }
  void replaced(PeerId from) override {
    absent_[from] = dead_[from] = departed_[from] = left_early_[from] = false;
    peer_.replaced(from);
  }
  void refused(PeerId from) override { peer_.refused(from); }
  Round clock() const override { return peer_.clock(); }
  Round done() const override { return peer_.done(); }
  Time finishing_since() const override { return peer_.finishing_since(); }

 private:
  Peer& peer_;
  std::map<PeerId, bool> absent_, dead_, departed_, left_early_;
};

/// Peer 0 of a ring of three, with its link layer, in a world in which the input decides about time
/// and neighbours. The model has four parameters, so one message carries its 16 bytes.
class SessionWorld : public World, public Carrier, public Journal {
 public:
  static constexpr std::size_t model_bytes = 16;
  static constexpr std::uint64_t most_unacknowledged = 4 * model_bytes;

  explicit SessionWorld(bool successors)
      : replica_(make_replica()),
        peer_(plan(successors), *this, *this, *replica_),
        user_(peer_),
        links_(settings(successors), *this, user_, 1) {
    links_.start(now_);
  }

  LinkLayer& links() { return links_; }
  Time now() const override { return now_; }
  bool over() const { return left_ || failed_ || links_.over(); }
  /// Returns the connection that was dialled last to this neighbour; 0 if there is none.
  ConnectionId dialled(PeerId neighbor) const {
    const auto at = dialled_.find(neighbor);
    return at == dialled_.end() ? 0 : at->second;
  }
  /// Returns the greatest message number sent over it.
  std::uint64_t last_sent(ConnectionId connection) const {
    const auto at = last_sent_.find(connection);
    return at == last_sent_.end() ? 0 : at->second;
  }
  /// Returns a payload of the neighbour's, and tracks how long it is kept.
  Payload lend(std::size_t bytes, float value) {
    const auto buffer = std::make_shared<Buffer>(bytes);
    for (float& x : buffer->floats()) x = value;
    lent_.push_back(buffer);
    return buffer;
  }

  /// Runs the jobs, and begins or ends the algorithm when it is due.
  void proceed() {
    if (begun_ && !algorithm_) {
      algorithm_.emplace(live(peer_, find_algorithm("d-psgd", "")->run));
      algorithm_->start();
    }
    while (!jobs_.empty()) {
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      job();
    }
    if (algorithm_ && algorithm_->done() && !std::exchange(ended_, true)) links_.end(now_);
    check();
  }
  void pass(Time length) {
    const Time last = now_ + length;
    for (int events = 0; events < 1000 && !over(); ++events) {
      const Time next = timers_.empty() ? Time::max() : timers_.begin()->first;
      if (std::min(next, wake_) > last) break;
      now_ = std::max(now_, std::min(next, wake_));
      if (wake_ <= next) {
        wake_ = Time::max();
        links_.on_time(now_);
      } else {
        const auto timer = timers_.extract(timers_.begin());
        timer.mapped()();
      }
      proceed();
    }
    now_ = last;
  }

  // World.
  void send(PeerId to, Message message) override { links_.send(to, std::move(message), now_); }
  void after(Time delay, std::function<void()> f) override {
    timers_.emplace(now_ + delay, std::move(f));
  }
  void offload(Lane, double, std::function<void()> job, std::function<void()> done) override {
    jobs_.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  std::uint64_t sent_bytes() const override { return 0; }

  // Journal.
  void settled(const Settlement& s) override {
    GV_CHECK(s.weight > 0 && s.weight < 1, "a weight of averaging");
    GV_CHECK(s.theirs->size() == model_bytes, "a model of the right size");
  }

  // Carrier.
  void dial(PeerId neighbor, ConnectionId connection) override {
    GV_CHECK(connection > last_connection_, "a connection is never used twice");
    last_connection_ = connection;
    dialled_[neighbor] = connection;
  }
  void probe(PeerId) override {}
  void send(ConnectionId connection, const Frame& frame) override {
    wire::encode(frame, 0);  // checks its limits
    if (const auto* numbered = std::get_if<NumberedMessage>(&frame))
      last_sent_[connection] = std::max(last_sent_[connection], numbered->number);
  }
  void admit(ConnectionId, PeerId neighbor, const Hello& theirs) override {
    GV_CHECK(theirs.peer == neighbor && theirs.incarnation != 0, "let in as who it is");
  }
  void finish(ConnectionId) override {}
  void close(ConnectionId) override {}
  void wake_at(Time time) override { wake_ = time; }
  std::string address(PeerId) const override { return "there:1"; }
  JobCount work() const override { return {}; }
  void begin() override { GV_CHECK(!std::exchange(begun_, true), "the algorithm begins once"); }
  void fail(const std::string&) override {
    GV_CHECK(!begun_ && !std::exchange(failed_, true), "failed once, before the beginning");
  }
  void leave() override {
    GV_CHECK(ended_ && !std::exchange(left_, true), "left once, at the end");
  }
  void say(const std::string& line) override {
    for (const char c : line) GV_CHECK(c >= ' ' && c <= '~', "a line is printable");
  }

 private:
  static std::unique_ptr<Replica> make_replica() {
    QuadraticSpec spec;
    spec.dimension = model_bytes / sizeof(float);
    spec.noise = 0;
    spec.start = 1;
    return make_host_replica(make_quadratic(spec, 0, 3, Rng(1)), {}, 1, Rng(1));
  }
  static Plan plan(bool successors) {
    Plan plan;
    plan.peers = 3;
    plan.neighborhood = {
        .self = 1.0 / 3, .peers = {1, 2}, .weights = {1.0 / 3, 1.0 / 3}, .receivers = {1, 2}};
    plan.rounds = 12;
    plan.live_degrees = plan.catch_up = plan.successors = successors;
    plan.deadline = std::chrono::seconds(2);
    plan.dead_after = std::chrono::seconds(5);
    plan.standstill = std::chrono::seconds(10);
    plan.succession = std::chrono::seconds(1);
    return plan;
  }
  static LinkSettings settings(bool successors) {
    LinkSettings settings;
    settings.self = {.fleet = "f", .model = "m", .peer = 0, .incarnation = 1, .peers = 3};
    settings.neighbors = {1, 2};
    settings.reversed = {2};  // so peer 0 dials one neighbour, and the other one dials it
    settings.successors = successors;
    settings.rounds = 12;
    settings.slack = 3;
    settings.most_unacknowledged_bytes = most_unacknowledged;
    return settings;
  }

  static void check(const Session& session) {
    std::uint64_t kept = 0;
    for (const Session::Numbered& numbered : session.unacknowledged())
      if (numbered.message.payload) kept += numbered.message.payload->size();
    GV_CHECK_EQUAL(session.unacknowledged_bytes(), kept, "what is kept is counted");
    GV_CHECK(kept <= 4 * most_unacknowledged, "what a neighbour does not acknowledge is bounded");
  }

  /// Checks the invariants, which hold whatever arrives.
  void check() {
    std::erase_if(lent_, [](const std::weak_ptr<const Buffer>& b) { return b.expired(); });
    GV_CHECK(lent_.size() <= most_kept, "few payloads of the neighbours are kept");
    for (const PeerId neighbor : {1U, 2U}) check(links_.link(neighbor).session());
    GV_CHECK(timers_.size() < 1000, "few timers run");
    Buffer x(model_bytes);
    replica_->snapshot(Vector::x, {0, replica_->size()}, x);
    for (const float value : x.floats()) GV_CHECK(std::isfinite(value), "x is finite");
  }

  static constexpr std::size_t most_kept = 16;

  Time now_{std::chrono::seconds(100)};
  Time wake_ = Time::max();
  std::multimap<Time, std::function<void()>> timers_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::weak_ptr<const Buffer>> lent_;
  std::map<PeerId, ConnectionId> dialled_;
  std::map<ConnectionId, std::uint64_t> last_sent_;
  ConnectionId last_connection_ = 0;
  bool begun_ = false, failed_ = false, left_ = false, ended_ = false;
  std::unique_ptr<Replica> replica_;
  Peer peer_;
  CheckedUser user_;
  LinkLayer links_;
  std::optional<Task<>> algorithm_;
};

}  // namespace gv::fuzz
