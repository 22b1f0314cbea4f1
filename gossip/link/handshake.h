#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"

namespace gv {

/// Returns why `theirs` belongs to another fleet or model than `ours`; empty if it does not.
std::string disagreement(const Hello& ours, const Hello& theirs);

/// An incoming connection whose other end has not identified itself yet.
struct PendingConnection {
  /// awaited --a Hello that fits--> a link
  /// awaited --any other frame----> refused, until it closes or its time is up
  enum class State : std::uint8_t { awaited, refused };
  ConnectionId connection = 0;
  std::string host;    ///< for the log
  std::string origin;  ///< address, or IPv6 network whose addresses count as one
  std::uint16_t port = 0;
  Time deadline{0};  ///< for its first byte, and then `latest`
  Time latest{0};
  State state = State::awaited;
  bool known = false;  ///< it comes from a known neighbour's address
  bool spoke = false;  ///< a byte came
};

/// Places of connections whose other end has not identified itself. A new connection always gets a
/// place. If all are taken, the origin with the most places loses its oldest connection; origins of
/// known neighbours lose theirs last. Invariant: at most `places` connections wait, at most half
/// from addresses without a known neighbour, and at most `of_one` from one foreign origin.
class PendingConnections {
 public:
  PendingConnections(std::size_t places, std::size_t of_one) : places_(places), of_one_(of_one) {}

  /// Returns the connection to close in exchange, if any. `crowded`: no free place is left.
  std::optional<ConnectionId> admit(PendingConnection pending, bool crowded = false);
  PendingConnection* find(ConnectionId connection);
  /// Returns true if it was there.
  bool remove(ConnectionId connection);
  /// Removes and returns those whose time is up.
  std::vector<PendingConnection> overdue(Time now);
  std::optional<Time> next_deadline() const;

 private:
  std::size_t held_by(const std::string& origin) const;
  std::size_t strangers() const;
  const PendingConnection& greediest() const;
  ConnectionId evict_oldest(const std::string& origin);

  std::size_t places_, of_one_;
  std::vector<PendingConnection> waiting_;  ///< the oldest first
};

}  // namespace gv
