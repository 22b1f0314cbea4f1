#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gossip/seam/journal.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv::control {

// Protocol between a launcher and its peers: one JSON object per line, the peer's on its stdout,
// the launcher's on the peer's stdin. The end of stdin means that the launcher has exited.
//
//   peer:     listening {port}   ready   shares {peer}   progress {round, ...}   report {...}
//             kept {round}   no_space {text}   halts {round}   measured {...}
//   launcher: keys {text}   addresses [{peer, host, port, reversed}] {token}   cut {peer, seconds}
//             checkpoint {round}   hold {round, next}   record {first, last}   measure   halt
//             stop {after}

// fields() names the members of a struct in JSON (fleet/json/fields.h).

struct Listening {
  std::uint16_t port = 0;
  void fields(auto& v) { v("port", port); }
};
struct Ready {};
/// The neighbour reads our payloads in shared memory (wire/lend/sharing.h).
struct Shares {
  PeerId peer = 0;
  void fields(auto& v) { v("peer", peer); }
};
struct Progress {
  /// Time spent waiting for a neighbour since the beginning.
  struct Wait {
    PeerId peer = 0;
    Time late{0}, wire{0}, longest{0};
    void fields(auto& v) {
      v("peer", peer), v("late_ns", late), v("wire_ns", wire), v("longest_ns", longest);
    }
  };
  Round round = 0;
  Spent spent{};
  std::vector<Wait> waits{};  ///< empty without links
  Round staleness = 0;        ///< maximum since the last progress line
  std::size_t queue = 0;      ///< maximum length since then
  void fields(auto& v) {
    v("round", round), v("spent_ns", spent), v("waits", waits);
    v("staleness", staleness), v("queue", queue);
  }
};
/// A report; its vector was sent before this line (launcher_line.h).
struct Reported {
  Report report;
};
/// The peer has a checkpoint that may be held (CheckpointStore::candidate).
struct Kept {
  Round round = 0;
  void fields(auto& v) { v("round", round); }
};
/// The peer's disk is full; `text` names what could not be written.
struct NoSpace {
  std::string text{};
  void fields(auto& v) { v("text", text); }
};
/// Round at whose end the peer waits to learn the fleet's last round (Peer::halt).
struct Halts {
  Round round = 0;
  void fields(auto& v) { v("round", round); }
};
/// Figures of a peer that only measures its speed (peer_speeds.h).
struct Measured {
  std::string device{};
  double samples_per_second = 0;
  double flops = 0;  ///< per second
  void fields(auto& v) {
    v("device", device), v("samples_per_second", samples_per_second), v("flops", flops);
  }
};
/// A report with invalid fields; `what` is the reason. A vector was sent before it.
struct BadReport {
  std::string what{};
  void fields(auto& v) { v("what", what); }
};
using PeerSays = std::variant<std::monostate,
                              Listening,
                              Ready,
                              Shares,
                              Progress,
                              Reported,
                              BadReport,
                              Kept,
                              NoSpace,
                              Halts,
                              Measured>;

/// Keys with which the peer proves its identity in this run (wire/seal/tls_context.h), sent before
/// the addresses. Kept only in the memory of the two processes and on the way between them.
struct Keys {
  PeerKeys keys;
};
struct Addresses {
  std::vector<PeerAddress> list;
  std::string token{};  ///< run token (wire/seal/peer_keys.h), sent with the first addresses
  void fields(auto& v) { v("addresses", list), v.maybe("token", token); }
};
/// Cuts the connection with this neighbour for this time (faults.inject).
struct Cut {
  PeerId peer = 0;
  Time length{0};
  void fields(auto& v) { v("cut", peer), v.signed_time("length_ns", length); }
};
/// Orders a checkpoint at the end of this round, whatever checkpoint.every is.
struct KeepCheckpoint {
  Round round = 0;
  void fields(auto& v) { v("checkpoint", round); }
};
/// All peers have a checkpoint of this round, which is kept; see CheckpointStore::hold.
struct Hold {
  Round round = 0;
  Round next = 0;
  void fields(auto& v) { v("hold", round), v("next", next); }
};
/// Records every interval from the first to the last round, both included (record/life/recorder.h).
struct RecordRounds {
  Round first = 0;
  Round last = 0;
  void fields(auto& v) { v("record", first), v("last", last); }
};
/// Asks the peer to measure its speed now, at the same time as all other peers.
struct Measure {
  void fields(auto& v) { v.also("measure", true); }
};
/// Asks after which round the peer can end, because all peers are to end after the same one.
struct Halt {
  void fields(auto& v) { v.also("halt", true); }
};
struct Stop {
  Round after = 0;  ///< ends with a checkpoint of this round; 0: as soon as it can, without one
  void fields(auto& v) { v.also("stop", true), v("after", after); }
};
using LauncherSays = std::variant<std::monostate,
                                  Keys,
                                  Addresses,
                                  Cut,
                                  KeepCheckpoint,
                                  Hold,
                                  RecordRounds,
                                  Measure,
                                  Halt,
                                  Stop>;

/// Must not be monostate or BadReport, which no peer sends.
std::string line(const PeerSays& says);
std::string line(const LauncherSays& says);
/// Leaves no copy of the keys.
std::string line(const Keys& says);

/// Returns monostate if the line is not of this protocol.
PeerSays parse_peer(const std::string& line);
LauncherSays parse_launcher(const std::string& line);

}  // namespace gv::control
