#pragma once

#include <cstdint>
#include <vector>

#include "gossip/journal.h"
#include "peer/sim/sim_world.h"

namespace gv {

/// What one life of a simulated peer reports: to the observer, to its disk, to the audit, and to
/// the trace.
class SimJournal : public Journal {
 public:
  SimJournal(SimShared& shared, PeerId id, std::uint64_t life)
      : shared_(shared), id_(id), life_(life) {}

  void publish(Report report) override;
  void store(Round round, std::vector<std::byte> state) override;
  void settled(const Settlement& settlement) override;
  void note(const PeerEvent& event) override;

 private:
  void tell(Report report);

  SimShared& shared_;
  PeerId id_;
  std::uint64_t life_;
};

}  // namespace gv
