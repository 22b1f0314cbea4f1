#pragma once

#include <cstdint>
#include <vector>

#include "optim/rng.h"
#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Ways to divide a model that lie beside each other, drawn: one stage's end, two machines, how
/// many stages, microbatches, `ahead`, the copies of stages or their members are other ones.
class StrategyMoves {
 public:
  StrategyMoves(const StrategyCosts& costs, Rng& rng);

  /// Keeps the schedule. May end where it began, or where no fleet can run
  /// (StrategyCosts::can_run).
  Strategy from(Strategy d);
  /// One of those whose stages have a peer each.
  Strategy anywhere(Strategy d);

 private:
  enum class Move : std::uint8_t { end, swap, stages, microbatches, ahead, copies, tensor };

  std::vector<Move> moves_of(const Strategy& d) const;
  std::vector<PeerId> stages_for(PeerId members) const;
  std::vector<std::uint32_t> microbatches_for(const Strategy& d) const;
  void move_an_end(Strategy& d);
  void swap_two(Strategy& d);
  void set_stages(Strategy& d, PeerId stages);
  void change_stages(Strategy& d);
  void change_copies(Strategy& d);
  void set_copies(Strategy& d, PeerId stages);
  void turn_into_copy(Strategy& d);
  void change_tensor(Strategy& d);

  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[rng_.below(all.size())];
  }

  const StrategyCosts& costs_;
  Rng& rng_;
  std::vector<PeerId> tensors_;
  std::vector<std::uint32_t> microbatches_;
};

}  // namespace gv
