#pragma once

#include <map>

#include "gossip/core/rules.h"
#include "gossip/seam/plan.h"
#include "gossip/steps/pushes.h"

// Wrong rules, one for each bug that could be written into the exchange.

namespace gv::mutants {

/// Uses only its own degree for weights.
struct OwnDegree : Rules {
  float weight(const Plan&, const Terms& terms) const override {
    return static_cast<float>(1.0 / (1 + terms.degree));
  }
};

/// Weighs a late half by its degree in the latest exchange of any edge, not in the half's own.
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

/// Clips by its own bound, ignoring the other end's.
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

/// Does not announce that a neighbour's half will get no answer.
struct SaysNoBeyond : Rules {
  bool says_beyond() const override { return false; }
};

/// Begins the next round without the halves that are late.
struct WaitsForNoOlder : Rules {
  bool waits_for_older() const override { return false; }
};

/// Runs rounds alone as fast as it can.
struct RunsAhead : Rules {
  bool limits_pace() const override { return false; }
};

/// Continues a wait although one reason to end it has come.
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

/// Keeps the oldest pushes of a peer far ahead, and drops each newer one.
struct KeepsTheOldest : PushRules {
  bool keeps_what_is_far_ahead() const override { return false; }
};

/// Waits a whole deadline for each message, not for all messages of a round together.
struct DeadlineOfEach : PushRules {
  bool one_deadline() const override { return false; }
};

/// Waits forever for a neighbour that waits for it.
struct ExcusesCircles : Rules {
  bool excuses_circles() const override { return true; }
};

/// Leaves without waiting for the half that it is owed.
struct LeavesUnsettled : Rules {
  bool settles_before_leaving() const override { return false; }
};

/// A successor keeps some state of the dead process.
struct Inherits : Rules {
  explicit Inherits(Legacy legacy) : legacy_(legacy) {}
  Legacy legacy() const override { return legacy_; }

 private:
  Legacy legacy_;
};

/// Accepts a neighbour's model with any content.
struct TakesAnyModel : Rules {
  bool takes_model(const Buffer&) const override { return true; }
};

}  // namespace gv::mutants
