#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gossip/journal.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv::control {

// What a launcher and its peers say to each other: one JSON object a line, the peer's on its
// stdout, the launcher's on the peer's stdin. The end of stdin means: the launcher has gone.
//   peer:     listening {port}   ready   shares {peer}   progress {round, ...}   report {...}
//   kept {round}   no_space {text}   halts {round}   measured {...}
//   launcher: keys {text}   addresses [{peer, host, port, reversed}] {token}   cut {peer, seconds}
//   checkpoint {round}   hold {round, next}   record {first, last}   measure   halt   stop {after}

struct Listening {
  std::uint16_t port = 0;
};
struct Ready {};
/// The neighbour reads our payloads where they lie (wire/lend/sharing.h).
struct Shares {
  PeerId peer = 0;
};
struct Progress {
  /// The waiting for a neighbour, since the beginning.
  struct Wait {
    PeerId peer = 0;
    Time late{0}, wire{0}, longest{0};
  };
  Round round = 0;
  Spent spent{};
  std::vector<Wait> waits{};  ///< none: without links
  Round staleness = 0;        ///< since the last such line, the greatest
  std::size_t queue = 0;      ///< since then, the longest
};
/// A Report; its vector was sent before it (launcher_line.h).
struct Reported {
  Report report;
};
/// It has a checkpoint that may be held (CheckpointStore::candidate).
struct Kept {
  Round round = 0;
};
/// Its disk is full; what could not be written.
struct NoSpace {
  std::string text{};
};
/// The round at whose end it waits to hear when the fleet ends (Peer::halt).
struct Halts {
  Round round = 0;
};
/// The figures that a peer which only measures was asked for (peer_speeds.h).
struct Measured {
  std::string device{};
  double samples_per_second = 0;
  double flops = 0;  ///< per second
};
/// A report whose fields make no sense, and what is wrong with it. A vector was sent before it.
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

/// The keys with which the peer proves itself in this run (wire/seal/tls_context.h); before the
/// addresses. They are nowhere but in these two processes' memory and on the way between them.
struct Keys {
  PeerKeys keys;
};
struct Addresses {
  std::vector<PeerAddress> list;
  std::string token{};  ///< of the run (wire/seal/peer_keys.h), with the first addresses; "": none
};
/// No connection with this neighbour for so long (faults.inject).
struct Cut {
  PeerId peer = 0;
  Time length{0};
};
/// A checkpoint at the end of this round, whatever checkpoint.every says.
struct KeepCheckpoint {
  Round round = 0;
};
/// All peers have a checkpoint of this round, which stays; see CheckpointStore::hold.
struct Hold {
  Round round = 0;
  Round next = 0;
};
/// Every interval of these rounds, both included (record/life/recorder.h).
struct RecordRounds {
  Round first = 0;
  Round last = 0;
};
/// The question how fast it computes: now, when all the others do.
struct Measure {};
/// The question after which round it can end: all peers are to end after the same one.
struct Halt {};
struct Stop {
  Round after = 0;  ///< with a checkpoint of this round; 0: as soon as it can, without one
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

/// monostate: not a line of this protocol.
PeerSays parse_peer(const std::string& line);
LauncherSays parse_launcher(const std::string& line);

}  // namespace gv::control
