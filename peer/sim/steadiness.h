#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/audit.h"

namespace gv {

/// The pace and the flows over edges of a fleet without faults: the reference for a run with
/// faults.
///
/// The rule of pace: in no window of the length in which ten undisturbed rounds are done does a
/// peer end more than twice the most rounds that it ended in any such window undisturbed, whatever
/// happens. Skipped rounds do not count. A fleet may become faster when its slowest peer is
/// missing, so the measure is the same fleet with every peer as fast as the fastest, every link as
/// short as the shortest, and unlimited bandwidth. If a method does not wait, links of the measure
/// take no time. The limit of a fleet of n members is n + 1 times as high in two cases: a round is
/// mostly arithmetic, because a peer that has lost neighbours mixes fewer models; or nothing flows
/// (pushes), because peers that did rounds apart receive several rounds' messages at once. Peers
/// without data (servers, memories, actors) are exempt: their rounds answer others, and requests
/// that arrived during a pause are answered at once. Peers that ask servers without waiting for
/// each other are exempt, too: the server's load sets their pace.
///
/// The rule of edges: once nothing goes wrong any more, an edge that carried flows undisturbed
/// carries them again. While each of its ends sees the other, not both end `most_silent` rounds
/// without a flow. Edges without flows (collectives, servers, pushes) have none that could stop. If
/// the deadline is shorter than a round and the ways of two halves, neither rule is judged.
struct Usual {
  struct Pace {
    Time window{0};   ///< ten rounds; 0: the run is shorter, and the peer is not judged
    Round most = 0;   ///< rounds that ended in a window
    Round times = 2;  ///< limit, as a multiple of `most`
  };
  std::vector<Pace> paces;                            ///< by peer
  std::map<std::pair<PeerId, PeerId>, Round> pauses;  ///< key (a, b): rounds of a between two flows
  Time length{0};                                     ///< length of the run of the unchanged fleet
  Time round{0};                     ///< mean length of rounds, of the slowest trainer
  Time longest_round = Time::max();  ///< rounds that take longer have no time before the deadline
};
Usual usual_of(const Assembly& fleet);

/// Counts rounds and flows as they happen. Without a reference it only records them for usual_of();
/// peers may then call it from several threads.
class Steadiness {
 public:
  explicit Steadiness(PeerId peers) : lives_(peers) {}
  /// `calm`: time after which there are no more faults and links are restored.
  Steadiness(const Usual& usual, Time calm);

  /// Returns whether both peers see each other, neither lies, and the deadline leaves them time.
  using Together = std::function<bool(PeerId, PeerId)>;
  /// Handles the end of a peer's round at `now`, which is `own` on its own clock. The clock may be
  /// wrong, so a peer runs ahead only if it does so by both times.
  void ended(Life life, Time own, Time now, const Together& together = {});
  void flowed(PeerId at, PeerId with);

  /// Returns the peers that ran ahead and the silent edges; ascending.
  std::vector<std::string> violations() const;
  /// Judges only edges from now on.
  void stop_judging_pace() { judges_pace_ = false; }
  bool ran_ahead() const { return !ahead_.empty(); }
  /// Returns the time at which the peer last ended a round.
  Time last_round(PeerId peer) const { return lives_[peer].last; }

 private:
  friend Usual usual_of(const Assembly& fleet);
  struct Record {
    std::uint64_t life = 0;
    Time last{0};
    std::deque<Time> own, true_time;  ///< ends of rounds in the window; without a reference, all
    std::map<PeerId, Round> since;    ///< rounds since the last flow with each
    std::map<PeerId, Round> longest;  ///< maximum of `since`
  };
  void count_silence(PeerId peer, const Together& together);
  Round most_silent(PeerId a, PeerId b) const;

  const Usual* usual_ = nullptr;
  bool judges_pace_ = true;
  Time calm_{0};
  std::vector<Record> lives_;
  std::map<Life, Round> ahead_;  ///< maximum rounds in a window
  std::map<std::pair<PeerId, PeerId>, std::pair<Round, Round>> silent_;
};

}  // namespace gv
