#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gossip/peer.h"

namespace gv::explore {

/// A fleet small enough to try everything that may happen to it.
struct Shape {
  std::string topology = "ring";  ///< path, ring, star, complete
  PeerId peers = 3;
  Round rounds = 3;
  /// Each peer computes between sending its halves and mixing (d-psgd lian), or before sending
  /// (atc).
  bool lian = true;
  std::size_t faults = 1;  ///< maximum number of faults
  /// cut, freeze, one-way cut, kill, start of a successor
  std::string kinds = "cfoks";
};

/// A choice of what happens next.
struct Action {
  enum class Kind : std::uint8_t {
    deliver,  ///< to peer a: the oldest message of peer b
    compute,  ///< peer a ends its gradient
    wake,     ///< peer a has rested long enough
    away,     ///< peer a takes b, which does not reach it, for absent
    back,     ///< b reaches peer a again
    died,     ///< peer a learns that b's process has ended
    meet,     ///< peers a and b meet; one is a successor
    cut,
    one_way,  ///< no message of b reaches a
    heal,
    freeze,
    thaw,
    kill,
    start,  ///< a successor of peer a
  };
  Kind kind;
  PeerId a = 0, b = 0;
  bool fault() const { return kind >= Kind::cut; }
  /// Returns whether it ends a temporary fault.
  bool mends() const { return kind == Kind::heal || kind == Kind::thaw; }
};

std::string to_text(const Action& action);

/// Real peers (Peer with its Exchange, Post, Roster and Pace) in a world without time: messages
/// and gradients wait until the explorer chooses to deliver or end them.
class SmallFleet {
 public:
  SmallFleet(const Shape& shape, const Rules& rules);
  ~SmallFleet();

  /// Returns everything that can happen next; faults last.
  std::vector<Action> actions() const;
  void act(const Action& action);
  /// Lets time pass for peers that only wait for it, at the end of their lives. Returns false if no
  /// timer is left.
  bool let_time_pass();

  /// Returns a hash of everything that decides the future of the fleet, and of all past flows.
  std::uint64_t digest() const;
  /// Returns the state of each peer as text.
  std::string to_text() const;
  /// Returns the invariant that was violated; empty if none was.
  const std::string& violation() const { return violation_; }
  /// Returns what is wrong when nothing can happen any more; empty if all is well.
  std::string judge_end() const;

 private:
  struct Member;
  struct Link {  ///< one direction
    std::deque<Message> messages;
    bool blocked = false;
  };

  Plan plan_of(PeerId i) const;
  Member& member(PeerId i) const { return *members_[i]; }
  void start(PeerId i, bool rejoins);
  void meet(PeerId i, PeerId j);
  void deliver(PeerId to, PeerId from);
  void run_jobs();
  bool reachable(PeerId a, PeerId b) const;
  bool strangers(PeerId a, PeerId b) const;
  bool unacquainted(PeerId a, PeerId b) const;
  bool knows_another(PeerId a, PeerId b) const;
  void add_local_actions(PeerId i, std::vector<Action>& out) const;
  void add_faults(std::vector<Action>& out) const;
  void strike(const Action& action);
  void mark_fault();
  void violate(const std::string& what);
  std::string judge_edge(PeerId a, PeerId b) const;

  Shape shape_;
  const Rules& rules_;
  std::vector<std::vector<PeerId>> neighbors_;
  std::map<std::pair<PeerId, PeerId>, Link> links_;  ///< from, to
  std::vector<std::unique_ptr<Member>> members_;
  std::size_t faults_left_;
  Round last_fault_ = 0;  ///< furthest round of the fleet when a fault last began or ended
  bool disturbed_ = false;
  std::string violation_;
};

}  // namespace gv::explore
