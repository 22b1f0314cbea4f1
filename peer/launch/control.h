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

struct Listening {
  std::uint16_t port = 0;
};
struct Ready {};
/// The neighbour reads our payloads in shared memory (wire/lend/sharing.h).
struct Shares {
  PeerId peer = 0;
};
struct Progress {
  /// Time spent waiting for a neighbour since the beginning.
  struct Wait {
    PeerId peer = 0;
    Time late{0}, wire{0}, longest{0};
  };
  Round round = 0;
  Spent spent{};
  std::vector<Wait> waits{};  ///< empty without links
  Round staleness = 0;        ///< maximum since the last progress line
  std::size_t queue = 0;      ///< maximum length since then
};
/// A report; its vector was sent before this line (launcher_line.h).
struct Reported {
  Report report;
};
/// The peer has a checkpoint that may be held (CheckpointStore::candidate).
struct Kept {
  Round round = 0;
};
/// The peer's disk is full; `text` names what could not be written.
struct NoSpace {
  std::string text{};
};
/// Round at whose end the peer waits to learn the fleet's last round (Peer::halt).
struct Halts {
  Round round = 0;
};
/// Figures of a peer that only measures its speed (peer_speeds.h).
struct Measured {
  std::string device{};
  double samples_per_second = 0;
  double flops = 0;  ///< per second
};
/// A report with invalid fields; `what` is the reason. A vector was sent before it.
struct BadReport {
  std::string what{};
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
};
/// Cuts the connection with this neighbour for this time (faults.inject).
struct Cut {
  PeerId peer = 0;
  Time length{0};
};
/// Orders a checkpoint at the end of this round, whatever checkpoint.every is.
struct KeepCheckpoint {
  Round round = 0;
};
/// All peers have a checkpoint of this round, which is kept; see CheckpointStore::hold.
struct Hold {
  Round round = 0;
  Round next = 0;
};
/// Records every interval from the first to the last round, both included (record/life/recorder.h).
struct RecordRounds {
  Round first = 0;
  Round last = 0;
};
/// Asks the peer to measure its speed now, at the same time as all other peers.
struct Measure {};
/// Asks after which round the peer can end, because all peers are to end after the same one.
struct Halt {};
struct Stop {
  Round after = 0;  ///< ends with a checkpoint of this round; 0: as soon as it can, without one
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

std::string line(const Listening& says);
std::string line(const Ready& says);
std::string line(const Shares& says);
std::string line(const Progress& says);
std::string line(const Reported& says);
std::string line(const Kept& says);
std::string line(const NoSpace& says);
std::string line(const Halts& says);
std::string line(const Measured& says);
std::string line(const Keys& says);
std::string line(const Addresses& says);
std::string line(const Cut& says);
std::string line(const KeepCheckpoint& says);
std::string line(const Hold& says);
std::string line(const RecordRounds& says);
std::string line(const Measure& says);
std::string line(const Halt& says);
std::string line(const Stop& says);

/// Returns monostate if the line is not of this protocol.
PeerSays parse_peer(const std::string& line);
LauncherSays parse_launcher(const std::string& line);

}  // namespace gv::control
