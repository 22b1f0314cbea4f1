#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "gossip/peer.h"

namespace gv {

/// Watches whether flows are answered in the round after them: a method whose flows act again in
/// later rounds is sound while each of those brings the next flow over the same edges.
class InStep {
 public:
  explicit InStep(const Peer& me) : me_(me), numbers_(me.exchanges()) {}

  /// Returns whether this round and the one before it have settled their own exchanges, with the
  /// same neighbours. To be asked once in each round, when it has averaged.
  bool kept() {
    Settled settled;
    for (const auto& [peer, number] : me_.exchanges()) {
      settled[peer] = number.value - numbers_[peer].value;
      numbers_[peer] = number;
    }
    const bool same = !last_ || *last_ == settled;
    last_ = std::move(settled);
    const bool open = me_.open_exchanges() > 0;
    return same && !std::exchange(open_, open) && !open;
  }

 private:
  using Settled = std::map<PeerId, std::uint64_t>;  ///< how often with each

  const Peer& me_;
  std::map<PeerId, ExchangeNumber> numbers_;  ///< of the next one with each
  std::optional<Settled> last_;
  bool open_ = false;  ///< the round before has left one open
};

}  // namespace gv
