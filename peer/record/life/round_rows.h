#pragma once

#include <cstddef>
#include <vector>

#include "gossip/journal.h"

namespace gv {

/// Some rounds of a peer, one after the other.
struct RoundRow {
  Round first = 0, rounds = 0;
  Time begin{0};
  Spent spent;  ///< in them
  std::uint64_t bytes = 0;
  Round staleness = 0;
  std::size_t queue = 0;
};

/// A peer's rounds, in so many rows at most: when they are full, each two become one, and later
/// rows span as many rounds. So a long run is kept whole, as coarsely as needed.
class RoundRows {
 public:
  /// `most` is at least 2.
  explicit RoundRows(std::size_t most);

  /// Life begins at `now` after so many rounds.
  void begin(Round rounds, Time now);
  void add(const RoundDone& round);
  /// The last one may span fewer rounds than the others.
  const std::vector<RoundRow>& rows() const { return rows_; }

 private:
  void merge_pairs();

  std::size_t most_;
  Round span_ = 1;
  std::vector<RoundRow> rows_;
  RoundDone before_{};  ///< where the peer stood after the round before
};

}  // namespace gv
