#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gossip/journal.h"
#include "peer/record/life/recorder.h"
#include "peer/sim/sim_world.h"

namespace gv {

/// The journal of one life of a simulated peer: it tells the observer, its disk, the audit, and the
/// trace.
class SimJournal : public Journal {
 public:
  SimJournal(SimShared& shared, PeerId id, std::uint64_t life)
      : shared_(shared), id_(id), life_(life) {
    if (shared.on_life) recorder_ = std::make_unique<Recorder>(id, shared.record);
  }

  void publish(Report report) override;
  void store(Round round, std::vector<std::byte> state) override;
  void settled(const Settlement& settlement) override;
  void note(const PeerEvent& event) override;
  bool wants_intervals(Round rounds) const override {
    return recorder_ && recorder_->wants_intervals(rounds);
  }
  void life_begun(Round rounds, Time now) override {
    if (recorder_) recorder_->life_begun(rounds, now);
  }
  void round_done(RoundDone round) override;
  void life_done(const LifeDone& life) override;

 private:
  void tell(Report report);

  SimShared& shared_;
  PeerId id_;
  std::uint64_t life_;
  std::unique_ptr<Recorder> recorder_;  ///< where somebody wants it
};

}  // namespace gv
