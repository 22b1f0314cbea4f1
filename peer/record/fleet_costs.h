#pragma once

#include <map>
#include <optional>

#include "gossip/costs.h"
#include "peer/record/aims.h"

namespace gv {

struct FleetRecord;

/// What all peers of a run have cost, those among them that have died: what somebody has sent and
/// learnt from is not undone by its end. So the sums of a run never fall, whoever reports no more.
///
/// A successor that goes on from an old checkpoint, or from none, tells of less than its
/// predecessor did. It counts from where it has come further.
class FleetCosts {
 public:
  void take(const Report& report);
  /// Adds the sums to the record, to which nothing of them was added before. `frames`: see Aims.
  void add_to(FleetRecord& record, const decltype(Aims::frames)& frames) const;

 private:
  struct OfPeer {
    Costs costs{};
    bool trains = false;
    std::optional<ExperienceFigures> experience{};
  };

  std::map<PeerId, OfPeer> told_;
};

}  // namespace gv
