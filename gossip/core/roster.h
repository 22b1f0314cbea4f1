#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gossip/core/core.h"

namespace gv {

/// The presence of a neighbour's process, as far as the world knows.
enum class Presence : std::uint8_t {
  here,
  away,  ///< silent; it may come back
  dead,  ///< its process has ended; a successor may come
};

/// Trust in a neighbour's values.
enum class Standing : std::uint8_t {
  good,
  suspected,    ///< has struck too often; in quarantine once nothing is open with it
  quarantined,  ///< no exchange with it any more
};

/// Keeps which neighbours are there, and whose values count. Invariant: a neighbour changes its
/// life only by replaced(), and nothing begun with an earlier life belongs to the present one.
class Roster {
 public:
  explicit Roster(PeerCore& self) : self_(self), entries_(self.neighbors.size()) {}

  bool here(std::size_t k) const { return entries_[k].presence == Presence::here; }
  bool dead(std::size_t k) const { return entries_[k].presence == Presence::dead; }
  /// Returns the number of times that it has gone away or been replaced.
  std::uint64_t outages(std::size_t k) const { return entries_[k].outages; }
  /// Returns the number of its successors that we met.
  std::uint64_t life(std::size_t k) const { return entries_[k].life; }

  void away(std::size_t k);
  void died(std::size_t k) { entries_[k].presence = Presence::dead; }
  void back(std::size_t k) { entries_[k].presence = Presence::here; }
  /// Another process has taken its place; it knows nothing, and nothing is held against it.
  void replaced(std::size_t k);

  Standing standing(std::size_t k) const;
  bool quarantined(std::size_t k) const { return entries_[k].quarantined; }
  /// Counts that it sent values that are not finite, once for each round.
  void blame(std::size_t k);
  void quarantine(std::size_t k);

  /// Records that it has said goodbye before its last round.
  void leave_early(std::size_t k) { entries_[k].left_early = true; }
  bool left_early(std::size_t k) const { return entries_[k].left_early; }
  /// Records that it has said goodbye after its last round.
  void end(std::size_t k) { entries_[k].ended = true; }
  bool ended(std::size_t k) const { return entries_[k].ended; }
  /// Returns whether its part is missing: it is dead, left early, or is in quarantine.
  bool missing(std::size_t k) const;

  /// Stops waiting for it at the end of our rounds, because it has been away for too long.
  void give_up(std::size_t k) { entries_[k].given_up = true; }
  bool given_up(std::size_t k) const { return entries_[k].given_up; }

 private:
  friend struct Inspect;  // tests/explore
  struct Entry {
    Presence presence = Presence::here;
    bool quarantined = false;
    bool given_up = false;
    bool left_early = false;
    bool ended = false;
    std::uint64_t outages = 0;
    std::uint64_t life = 0;
    std::uint32_t strikes = 0;      ///< rounds in which it sent values that are not finite
    std::optional<Round> struck{};  ///< the last such round
  };

  PeerCore& self_;
  std::vector<Entry> entries_;
};

}  // namespace gv
