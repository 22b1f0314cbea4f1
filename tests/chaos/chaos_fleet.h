#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "peer/launch/process/control.h"
#include "peer/launch/process/process.h"
#include "tests/peer/wire/tcp/proxy.h"

namespace gv {

/// Peer processes of a fleet file whose connections all go through proxies that do harm. It plays
/// the launcher, but does not restart peers: a test that kills a peer restarts it itself.
class ChaosFleet {
 public:
  /// `folder`: folder of the run; that of peer 3 is peers/003 in it.
  ChaosFleet(std::string file, PeerId peers, std::string folder, Harm harm, std::uint64_t seed);
  /// Runs this program instead of grapevine_program().
  void use(std::string binary) { binary_ = std::move(binary); }

  void start(PeerId id, std::vector<std::string> past = {});
  void kill(PeerId id, int signal) { slots_[id].child->kill(signal); }
  pid_t pid(PeerId id) const { return slots_[id].child->pid(); }
  std::uint16_t port(PeerId id) const { return slots_[id].port; }
  /// Reads the output of the peers; returns true when all have ended.
  bool pump();
  /// Runs until all have ended; returns false after ten minutes.
  bool run_to_end();
  /// Waits until every peer has completed `round` rounds.
  bool reaches(Round round);

  int exit_code(PeerId id) const;
  Round round(PeerId id) const { return slots_[id].round; }
  const std::string& log(PeerId id) const { return slots_[id].log; }
  /// Final vectors of the peers that sent them.
  const std::map<PeerId, Payload>& finals() const { return finals_; }
  /// Returns what all proxies did: "3 cuts, 2 flips, ...".
  std::string harm_done() const;

 private:
  struct Slot {
    std::unique_ptr<Child> child;
    std::unique_ptr<Proxy> proxy;
    std::string folder;
    std::uint16_t port = 0;
    bool introduced = false;
    Round round = 0;
    std::string log;
  };
  void handle_message(PeerId id, const control::PeerSays& says);
  void introduce(PeerId id);
  std::vector<PeerAddress> addresses() const;

  std::string file_;
  std::string binary_;
  Harm harm_;
  std::uint64_t seed_;
  std::vector<Slot> slots_;
  std::map<PeerId, Payload> finals_;
  bool connected_ = false;
};

}  // namespace gv
