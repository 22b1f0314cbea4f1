#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gossip/link/link_layer.h"
#include "tests/gossip/link/scripted_user.h"

namespace gv {

/// Processes whose link layers are joined in memory, in virtual time: frames arrive a millisecond
/// after they were sent, unless the test breaks or holds their connection.
class MemoryNet {
 public:
  class Process;
  static constexpr Time latency{std::chrono::milliseconds(1)};

  /// Starts a process; it replaces an earlier process of the same peer.
  Process& start(LinkSettings settings);
  Process& process(PeerId id) { return *processes_.at(id).back(); }
  void send(PeerId from, PeerId to, Kind kind, Round round, std::size_t bytes = 0);
  /// Ends all connections between two peers, or all of one peer.
  void break_connections(PeerId a, PeerId b);
  /// Holds all frames back, without an error; they arrive later.
  void hold(bool held) { held_ = held; }
  /// Loses all later frames of the present connections, without an error.
  void swallow() {
    for (const Link& link : links_) link->swallowed = true;
  }
  /// Makes every new connection fail.
  void block(bool blocked) { blocked_ = blocked; }
  void kill(PeerId id);
  void run(Time length);
  /// Runs until `so` is true; returns false if it is not within a minute.
  bool until(const std::function<bool()>& so);
  Time now() const { return now_; }

 private:
  struct End {
    Process* process = nullptr;
    ConnectionId id = 0;
    bool open = false;
  };
  struct Connection {
    End ends[2];
    bool swallowed = false;
    std::vector<std::function<void()>> held;
  };
  using Link = std::shared_ptr<Connection>;

  void at(Time time, std::function<void()> f) { events_.emplace(time, std::move(f)); }
  void connect(Process& from, PeerId to, ConnectionId id);
  void pass(const Link& link, int from, std::function<void(LinkLayer&, ConnectionId)> event);
  void close(Process& process, ConnectionId id);
  bool step(Time last);

  std::multimap<Time, std::function<void()>> events_;
  Time now_{std::chrono::seconds(1)};
  /// Processes of each peer; the last one lives.
  std::map<PeerId, std::vector<std::unique_ptr<Process>>> processes_;
  std::vector<Link> links_;
  bool held_ = false;
  bool blocked_ = false;
  std::vector<std::function<void()>> waiting_;  ///< work after hold()
};

/// One process: its user and its link layer.
class MemoryNet::Process : public Carrier {
 public:
  Process(MemoryNet& net, LinkSettings settings)
      : id(settings.self.peer), net_(net), links(std::move(settings), *this, user, id) {}

  const PeerId id;
  ScriptedUser user;
  bool alive = true;
  bool begun = false;
  bool left = false;
  std::string failure;
  std::string log;
  std::vector<Frame> sent;  ///< frames sent, over any connection
  int dials = 0;
  int closes = 0;

 private:
  friend class MemoryNet;
  MemoryNet& net_;
  std::uint64_t wakes_ = 0;
  std::map<ConnectionId, std::pair<Link, int>> ends_;

  void dial(PeerId neighbor, ConnectionId connection) override {
    ++dials;
    net_.connect(*this, neighbor, connection);
  }
  void probe(PeerId neighbor) override {
    net_.at(net_.now_ + latency, [this, neighbor] {
      const auto other = net_.processes_.find(neighbor);
      const bool there = other != net_.processes_.end() && other->second.back()->listens();
      if (!there && listens()) links.nobody_listens(neighbor, "refused", net_.now_);
    });
  }
  void send(ConnectionId connection, const Frame& frame) override {
    sent.push_back(frame);
    const auto at = ends_.find(connection);
    if (at == ends_.end()) return;
    net_.pass(at->second.first, at->second.second,
              [this, frame](LinkLayer& to, ConnectionId id) { to.arrived(id, frame, net_.now_); });
  }
  void admit(ConnectionId, PeerId, const Hello&) override {}
  void finish(ConnectionId) override {}
  void close(ConnectionId connection) override {
    ++closes;
    net_.close(*this, connection);
  }
  void wake_at(Time time) override {
    net_.at(std::max(time, net_.now_), [this, wake = ++wakes_] {
      if (wake == wakes_ && listens()) links.on_time(net_.now_);
    });
  }
  std::string address(PeerId neighbor) const override {
    return "memory:" + std::to_string(neighbor);
  }
  JobCount work() const override { return {}; }
  void begin() override { begun = true; }
  void fail(const std::string& why) override { failure = why; }
  void leave() override {
    left = true;
    net_.kill(id);
  }
  void say(const std::string& line) override { log += line + "\n"; }

  bool listens() const { return alive && !left; }

 public:
  LinkLayer links;  ///< last, because it calls the other members
};

inline MemoryNet::Process& MemoryNet::start(LinkSettings settings) {
  const PeerId id = settings.self.peer;
  auto& lives = processes_[id];
  if (!lives.empty()) kill(id);
  lives.push_back(std::make_unique<Process>(*this, std::move(settings)));
  lives.back()->links.start(now_);
  return *lives.back();
}

inline void MemoryNet::send(PeerId from, PeerId to, Kind kind, Round round, std::size_t bytes) {
  process(from).links.send(to, message_of(from, kind, round, bytes), now_);
}

inline void MemoryNet::connect(Process& from, PeerId to, ConnectionId id) {
  at(now_ + latency, [this, &from, to, id] {
    if (!from.listens() || blocked_) return;
    const auto other = processes_.find(to);
    if (other == processes_.end() || !other->second.back()->listens()) {
      from.links.nobody_listens(to, "refused", now_);
      return from.links.ended(id, "refused", now_);
    }
    Process& target = *other->second.back();
    const auto link = std::make_shared<Connection>();
    link->ends[0] = {&from, id, true};
    link->ends[1] = {&target, target.links.accepted("10.0.0.1", 1000, now_), true};
    for (int k = 0; k < 2; ++k) link->ends[k].process->ends_[link->ends[k].id] = {link, k};
    links_.push_back(link);
    from.links.connected(id, now_);
  });
}

inline void MemoryNet::pass(const Link& link,
                            int from,
                            std::function<void(LinkLayer&, ConnectionId)> event) {
  if (link->swallowed) return;
  const auto arrive = [link, from, event = std::move(event)] {
    End& end = link->ends[1 - from];
    if (end.open && end.process->listens()) event(end.process->links, end.id);
  };
  if (held_) return waiting_.push_back(arrive);
  at(now_ + latency, arrive);
}

inline void MemoryNet::close(Process& process, ConnectionId id) {
  const auto found = process.ends_.find(id);
  if (found == process.ends_.end()) return;
  const auto [link, end] = found->second;
  process.ends_.erase(found);
  if (!std::exchange(link->ends[end].open, false)) return;
  pass(link, end, [this, link = link, end = end](LinkLayer& to, ConnectionId other) {
    link->ends[1 - end].open = false;
    to.ended(other, "closed by the other side", now_);
  });
}

inline void MemoryNet::break_connections(PeerId a, PeerId b) {
  for (const Link& link : links_) {
    if (!link->ends[0].open || !link->ends[1].open) continue;
    const auto ids = std::minmax(link->ends[0].process->id, link->ends[1].process->id);
    if (ids != std::minmax(a, b)) continue;
    for (End& end : link->ends) end.open = false;
    for (End& end : link->ends)
      if (end.process->listens()) end.process->links.ended(end.id, "reset", now_);
  }
}

inline void MemoryNet::kill(PeerId id) {
  Process& process = *processes_.at(id).back();
  process.alive = false;
  const auto ends = process.ends_;
  for (const auto& [connection, link] : ends) close(process, connection);
}

inline bool MemoryNet::step(Time last) {
  if (!held_ && !waiting_.empty()) {
    for (auto& event : std::exchange(waiting_, {})) at(now_ + latency, event);
  }
  if (events_.empty() || events_.begin()->first > last) return false;
  const auto event = events_.extract(events_.begin());
  now_ = std::max(now_, event.key());
  event.mapped()();
  return true;
}

inline void MemoryNet::run(Time length) {
  const Time last = now_ + length;
  while (step(last)) {
  }
  now_ = last;
}

inline bool MemoryNet::until(const std::function<bool()>& so) {
  const Time last = now_ + std::chrono::minutes(1);
  while (!so())
    if (!step(last)) return false;
  return true;
}

/// Returns the settings of process `id` of `peers` in a row; `life` distinguishes its processes.
inline LinkSettings settings_of(PeerId id,
                                PeerId peers,
                                std::vector<PeerId> neighbors,
                                int life = 1) {
  LinkSettings settings;
  settings.self = {.fleet = "fleet",
                   .model = "model",
                   .peer = id,
                   .incarnation = id * 100 + static_cast<std::uint64_t>(life),
                   .peers = peers};
  settings.neighbors = std::move(neighbors);
  settings.slack = peers;
  settings.successors = true;
  settings.rejoin = life > 1;
  return settings;
}

}  // namespace gv
