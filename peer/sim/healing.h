#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

/// Says when the accident happens, how long it lasts, what is asked afterwards. Pace is measured
/// from `settle` after its end, when links have found each other again, to the end of the run.
struct HealingTimes {
  Time at{std::chrono::seconds(3)};
  Time length{std::chrono::seconds(8)};
  Time settle{std::chrono::seconds(12)};
  Time afterwards{std::chrono::seconds(12)};
  LinkTimes links{};
  Time end() const { return at + length + settle + afterwards; }
};

/// The state of a fleet at the end of a run, and how fast it was until then.
struct Health {
  std::vector<double> pace;  ///< rounds a second since the fleet had settled, by peer
  double loss = 0;           ///< of the fleet's model since then, the median
  double spread = 0;         ///< between the greatest and the least of it
  double earlier_loss = 0;   ///< before, by as long as the accident and the settling take
  double consensus = 0;      ///< since then, the median
  bool ended = true;         ///< nobody was lost or waited for in vain, and nothing was violated
  std::string wrong;         ///< the first of what was
};

/// One accident, and what became of a fleet.
struct Healing {
  std::string_view accident;
  std::string refused{};  ///< why this method cannot bear it; "": it can
  double pace = 0;        ///< of whoever differs most from its undisturbed pace, as a ratio
  Health before{}, after{};
  std::vector<std::string> wounds{};  ///< what has not healed
};

/// Names of the accidents, in the order of heal().
std::vector<std::string_view> accident_names();

/// Says why a method cannot bear that one of its peers dies; "": it can.
std::string objection_to_death(const AlgorithmRow& row);

/// Lets one accident after the other befall a fleet, each in a run of its own, and compares its end
/// with that of an undisturbed run of the same seed: the same pace within a factor of two, at no
/// time more than twice of it, flows over each edge (steadiness.h), the loss and the distance of
/// the models within a tolerance. The fleet's own `stop` does not count, and its learning rate
/// stays what it is at first. `on_done`: after each. `parts`: instead of the peers' own.
std::vector<Healing> heal(const Fleet& fleet,
                          const HealingTimes& times,
                          const std::function<void(const Healing&)>& on_done = {},
                          const PeerParts& parts = {});

}  // namespace gv
