#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "gossip/message.h"

namespace gv {

/// The limit to how many strangers may make us do a handshake's arithmetic, which costs us more
/// than them: 1 to 1.5 ms of a core, most of it X.509. A neighbour's own address has an allowance
/// that nobody else can use up. Seconds are counted one after the other, the next from the first
/// handshake after it has passed. Invariant: in none of them more than `of_all` handshakes are
/// begun for addresses that are not a neighbour's, nor more than `of_one` for one address that is
/// not our own machine's, or for each neighbour that lives there.
class HandshakeBudget {
 public:
  static constexpr std::size_t of_all = 50;
  static constexpr std::size_t of_one = 10;

  struct Source {
    std::string address;
    std::size_t neighbors = 0;  ///< that live there
    bool is_here = false;       ///< on this machine: all our peers may share the address
  };
  /// Returns whether one more may begin, and counts it; false: hang up without a word.
  bool spend(const Source& source, Time now);

 private:
  Time window_{0};  ///< where the present second began
  std::size_t spent_ = 0;
  std::map<std::string, std::size_t> spent_by_;  ///< at most of_all, and the neighbours'
};

}  // namespace gv
