#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/sim/fault_injector.h"
#include "peer/sim/sim_disk.h"

namespace gv {

/// A simulated peer's checkpoints, on a disk that fills up and loses power, and what must hold of
/// them: what is loaded is whole, and never older than the last that was acknowledged.
class SimCheckpointStore {
 public:
  explicit SimCheckpointStore(PeerId peer)
      : store_(disk_, "checkpoints", std::string(32, 'f'), std::string(32, 'm'), peer, 2) {}

  /// The disk is full for the next `saves`.
  void fill(int saves) { full_for_ = saves; }
  void tear() { torn_ = true; }

  enum class Saved { yes, no, torn };  ///< torn: the power failed in the middle
  Saved save(Round round, std::vector<std::byte> state, FaultInjector& injector);
  /// The process has died, and with it what was not on the disk.
  void lose_power(FaultInjector& injector);
  /// Loads what a successor goes on from; nothing when there is nothing.
  std::optional<Checkpoint> load(std::vector<std::string>& violations);

 private:
  SimDisk disk_;
  CheckpointStore store_;
  std::optional<Round> acknowledged_;
  int full_for_ = 0;
  bool torn_ = false;
};

}  // namespace gv
