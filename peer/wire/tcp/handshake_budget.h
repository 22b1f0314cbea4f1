#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "gossip/seam/message.h"

namespace gv {

/// Limits the handshakes that strangers can cause, because one costs us more than the stranger: 1
/// to 1.5 ms of a core, mostly for X.509. A neighbour's own address has a separate allowance. A
/// one-second window begins with the first handshake after the previous window. Invariant: in each
/// window at most `of_all` handshakes begin for addresses that are not a neighbour's, and at most
/// `of_one` for one address on another machine, or for each neighbour at that address.
class HandshakeBudget {
 public:
  static constexpr std::size_t of_all = 50;
  static constexpr std::size_t of_one = 10;

  struct Source {
    std::string address;
    std::size_t neighbors = 0;  ///< number of neighbours at this address
    bool is_here = false;  ///< the address is on this machine, where all our peers may share it
  };
  /// Returns whether one more handshake may begin, and counts it. If false, the caller hangs up
  /// without an answer.
  bool spend(const Source& source, Time now);

 private:
  Time window_{0};  ///< start of the current window
  std::size_t spent_ = 0;
  std::map<std::string, std::size_t> spent_by_;  ///< at most of_all entries, and the neighbours'
};

}  // namespace gv
