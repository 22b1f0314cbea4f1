#include "gossip/seam/journal.h"

#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace gv {
namespace {

std::string round_text(Round round) {
  return "round " + std::to_string(round);
}
std::string peer_text(PeerId peer) {
  return "peer " + std::to_string(peer);
}

/// "30 times", for a log.
std::string times_text(double times) {
  return times < 1e6 ? std::to_string(std::llround(times)) + " times" : "more than 1e6 times";
}
std::string figure_text(double value) {
  return fmt::format("{:.3g}", value);
}
std::string so_far(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " time" : " times") + " so far";
}

std::string reason(event::CollectiveBroken::Why why) {
  switch (why) {
    case event::CollectiveBroken::Why::died:
      return " has died";
    case event::CollectiveBroken::Why::left:
      return " has left";
    case event::CollectiveBroken::Why::stuck:
      return " lives and has not sent its part in time (faults.deadline)";
  }
  return "";
}

struct Lines {
  std::string operator()(const event::CheckpointLeftOut& e) const {
    return round_text(e.round) +
           ": the model is no longer finite, so it is not kept as a checkpoint";
  }
  std::string operator()(const event::NoModelToTake&) const {
    return "no neighbour has a model to give: continuing from the initial model";
  }
  std::string operator()(const event::TookModel& e) const {
    return "took the model of " + peer_text(e.of);
  }
  std::string operator()(const event::PassedOver& e) const {
    return "skips " + std::to_string(e.rounds) + " rounds, to " + round_text(e.to);
  }
  std::string operator()(const event::DeadlinePassed& e) const {
    return round_text(e.round) + ": " + peer_text(e.peer) + " has not sent piece " +
           std::to_string(e.part) + " of round " + std::to_string(e.of) +
           " in time (faults.deadline): continuing; it is applied when it arrives";
  }
  std::string operator()(const event::GoesOnWithout& e) const {
    return round_text(e.round) + ": " + peer_text(e.peer) +
           " has not sent its part in time (faults.deadline): continuing without it";
  }
  std::string operator()(const event::CollectiveBroken& e) const {
    return round_text(e.round) + ": " + peer_text(e.peer) + reason(e.why) +
           ": a collective needs all peers, so this peer ends here";
  }
  std::string operator()(const event::AwaitsHalf& e) const {
    return "done; " + peer_text(e.of) + " is away and owes half of an exchange: waiting for it, " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(e.at_most).count()) +
           " s at the most";
  }
  std::string operator()(const event::GaveUp& e) const {
    return "done; no longer waiting for " + peer_text(e.peer) + ", which owes half of exchange " +
           std::to_string(e.exchange.value) + ": that exchange may count only at its end";
  }
  std::string operator()(const event::NotFiniteCame& e) const {
    const std::string came =
        round_text(e.round) + ": " + peer_text(e.from) + " sent values that are not finite: ";
    if (e.most == 0) return came + "they count nowhere";
    return came + "they count at neither end (" + std::to_string(e.strikes) + " of " +
           std::to_string(e.most) + ")";
  }
  std::string operator()(const event::Quarantined& e) const {
    return peer_text(e.peer) + " is in quarantine: no exchange with it any more";
  }
  std::string operator()(const event::FarFlowClipped& e) const {
    return round_text(e.round) + ": the model of " + peer_text(e.from) + " is " +
           times_text(e.times) + " further away than robust.clip allows: its flow was clipped, " +
           so_far(e.far);
  }
  std::string operator()(const event::StandsStill& e) const {
    return round_text(e.round) + ": the model of " + peer_text(e.peer) + " has not changed for " +
           std::to_string(e.exchanges) +
           " exchanges while ours has: robust.clip now allows it a fiftieth of the usual distance";
  }
  std::string operator()(const event::ContributionCut& e) const {
    const std::string what = std::isfinite(e.times)
                                 ? "is " + times_text(e.times) + " as long as the peers' median"
                                 : "is not finite";
    return round_text(e.round) + ": the contribution of " + peer_text(e.of) + " to the sum " +
           what + " (robust.clip): it was cut, " + so_far(e.far);
  }
  std::string operator()(const event::LossRose& e) const {
    return round_text(e.rise.round) + ": the loss has risen from " + figure_text(e.rise.from) +
           " to " + figure_text(e.rise.to) + " at once";
  }
  std::string operator()(const event::RanAhead& e) const {
    return round_text(e.ahead.first) +
           ": without neighbours, rounds end faster than they did with them (" +
           figure_text(1e-9 * static_cast<double>(e.ahead.usual.count())) + " s each)";
  }
  std::string operator()(const event::ExperienceRefused& e) const {
    const std::string came =
        round_text(e.round) + ": " + peer_text(e.from) +
        " sent transitions or errors that cannot be, or more than it may: " + "refused (" +
        std::to_string(e.strikes) + " of " + std::to_string(e.most) + ")";
    return e.strikes < e.most ? came : came + ", and everything from it is refused from now on";
  }
  std::string operator()(const event::LearnsWithoutActors& e) const {
    return round_text(e.round) +
           ": no actor of this memory sends anything: learning continues from " +
           std::to_string(e.transitions) + " transitions, without samples_per_insert";
  }
};

}  // namespace

std::string to_text(const PeerEvent& event) {
  return std::visit(Lines{}, event);
}

}  // namespace gv
