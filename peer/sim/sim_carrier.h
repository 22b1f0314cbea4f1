#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gossip/link/link_layer.h"
#include "peer/sim/audit.h"
#include "peer/sim/lies.h"

namespace gv {

class SimNetwork;
struct SimConnection;

/// Carries the link layer of one simulated process: the same as over TCP, with streams of bytes in
/// virtual time under it.
class SimCarrier : public Carrier {
 public:
  /// `seed`: of its dials.
  SimCarrier(
      SimNetwork& network, Life life, LinkUser& user, LinkSettings settings, std::uint64_t seed);

  const Life life;
  LinkLayer& links() { return links_; }
  const LinkLayer& links() const { return links_; }
  Time now() const;  ///< as its own clock shows
  bool left() const { return left_; }

  void dial(PeerId neighbor, ConnectionId connection) override;
  void probe(PeerId neighbor) override;
  void send(ConnectionId connection, const Frame& frame) override;
  void admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) override;
  void finish(ConnectionId) override {}
  void close(ConnectionId connection) override;
  void wake_at(Time time) override;
  std::string address(PeerId neighbor) const override;
  JobCount work() const override;
  void begin() override;
  void fail(const std::string& why) override;
  void leave() override;
  void say(const std::string& line) override;
  void note(LinkEvent event, PeerId neighbor) override;
  void repeats(PeerId, const Message& message) override;
  std::uint64_t repeated_bytes() const { return repeated_bytes_; }

 private:
  friend class SimNetwork;

  SimNetwork& network_;
  std::set<ConnectionId> dialling_;
  std::map<ConnectionId, std::shared_ptr<SimConnection>> connections_;
  std::uint64_t wakes_ = 0;
  std::optional<Lie> lie_;  ///< it says what is not so
  bool left_ = false;
  std::uint64_t repeated_bytes_ = 0;
  LinkLayer links_;
};

}  // namespace gv
