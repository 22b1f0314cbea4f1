#pragma once

#include <map>

#include "gossip/plan.h"
#include "gossip/pushes.h"
#include "gossip/rules.h"

// Wrong rules, one for each bug that somebody might write into the exchange.

namespace gv::mutants {

/// Weighs by its own degree only.
struct OwnDegree : Rules {
  float weight(const Plan&, const Terms& terms) const override {
    return static_cast<float>(1.0 / (1 + terms.degree));
  }
};

/// Weighs a late half by its degree in the latest exchange of any edge, not in the one that it
/// belongs to.
struct DegreeOfNow : Rules {
  float weight(const Plan& plan, const Terms& terms) const override {
    if (terms.round >= latest_) {
      latest_ = terms.round;
      degree_ = terms.degree;
    }
    Terms wrong = terms;
    wrong.degree = degree_;
    return Rules::weight(plan, wrong);
  }

 private:
  mutable Round latest_ = 0;
  mutable std::uint32_t degree_ = 0;
};

/// Clips by its own bound, whatever the other end's is.
struct OwnBound : Rules {
  double bound(double ours, double) const override { return ours; }
};

/// Begins an exchange while one is open.
struct NextBeforeSettled : Rules {
  bool begins(bool) const override { return true; }
};

/// Voids an open exchange at one end, when its half is late or the neighbour away.
struct Voids : Rules {
  explicit Voids(Missing when) : when_(when) {}
  bool stays_open(Missing why) const override { return why != when_; }

 private:
  Missing when_;
};

/// Does not say that a neighbour's half will not be answered.
struct SaysNoBeyond : Rules {
  bool says_beyond() const override { return false; }
};

/// Begins the next round without the halves that are late.
struct WaitsForNoOlder : Rules {
  bool waits_for_older() const override { return false; }
};

/// Does rounds alone as fast as it can.
struct RunsAhead : Rules {
  bool limits_pace() const override { return false; }
};

/// Waits on where one reason to stop has come.
struct Ignores : Rules {
  explicit Ignores(Interruption reason) : reason_(reason) {}
  bool ends_wait(Interruption why) const override { return why != reason_; }

 private:
  Interruption reason_;
};

/// No reason ends a wait.
struct IgnoresAll : Rules {
  bool ends_wait(Interruption) const override { return false; }
};

/// Keeps the oldest pushes of who is far ahead, and drops each newer one.
struct KeepsTheOldest : PushRules {
  bool keeps_what_is_far_ahead() const override { return false; }
};

/// Waits a deadline for the next message, and not for all of a round.
struct DeadlineOfEach : PushRules {
  bool one_deadline() const override { return false; }
};

/// Waits for ever for a neighbour that waits for it.
struct ExcusesCircles : Rules {
  bool excuses_circles() const override { return true; }
};

/// Says goodbye without waiting for the half that it is owed.
struct LeavesUnsettled : Rules {
  bool settles_before_leaving() const override { return false; }
};

/// A successor takes over something of the one that died.
struct Inherits : Rules {
  explicit Inherits(Legacy legacy) : legacy_(legacy) {}
  Legacy legacy() const override { return legacy_; }

 private:
  Legacy legacy_;
};

/// Takes a neighbour's model whatever is in it.
struct TakesAnyModel : Rules {
  bool takes_model(const Buffer&) const override { return true; }
};

}  // namespace gv::mutants
