#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"
#include "gossip/seam/journal.h"
#include "gossip/seam/message.h"
#include "gossip/verbs/verb.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/ledger.h"
#include "peer/runtime/peer_plan.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// Tracks whether a neighbour is missing, for the mark of a checkpoint on the rounds before it. The
/// loop writes, a job reads.
class Attendance {
 public:
  /// Takes a link's event about a neighbour that has not said goodbye.
  void heard(LinkEvent event, PeerId neighbor);
  /// Returns whether a neighbour was missing since the last call, or is now.
  bool take_missed();

 private:
  std::set<PeerId> missing_;
  std::atomic<bool> somebody_missing_ = false;
  std::atomic<bool> somebody_missed_ = false;
};

/// The journal of a peer over TCP, for its launcher or screen, its disk, its ledger and its log.
struct TcpJournal : Journal {
  std::function<void(Report)> on_report;
  std::function<void(const std::string&)> log;  ///< one line, no newline
  CheckpointStore* checkpoints = nullptr;       ///< null if none are kept
  /// Called from a job if another checkpoint may be held (CheckpointStore::hold); may be empty.
  std::function<void(Round)> on_candidate{};
  /// Called with the failed write if the disk is full, once until there is room again; from any
  /// thread. If empty, the message is logged.
  std::function<void(const std::string&)> on_no_space{};
  LedgerFile* ledger = nullptr;     ///< null if none is kept
  LifeRecord* record = nullptr;     ///< null if none is kept
  const TcpWorld* world = nullptr;  ///< for the neighbours' incarnations

  Attendance attendance;

  Round staleness = 0;    ///< greatest since the last reset
  std::size_t queue = 0;  ///< longest since the last reset

  void publish(Report report) override { on_report(std::move(report)); }
  void store(Round round, std::vector<std::byte> state) override;
  void settled(const Settlement& settlement) override;
  void note(const PeerEvent& event) override { log(to_text(event)); }
  bool wants_intervals(Round rounds) const override {
    return record != nullptr && record->recorder().wants_intervals(rounds);
  }
  void life_begun(Round rounds, Time now) override;
  void round_done(RoundDone round) override;
  void life_done(const LifeDone& life) override;

 private:
  void complain(const std::string& wrong);

  std::atomic<bool> full_ = false;
};

/// The progress of a peer, and its waits.
struct PeerProgress {
  Round round = 0;
  Spent spent;
  std::vector<std::pair<PeerId, Waits>> waits;  ///< by neighbour, ascending
  Round staleness = 0;                          ///< greatest since the last report
  std::size_t queue = 0;                        ///< longest since the last report
};

/// Past that a peer continues.
struct PeerPast {
  std::optional<Round> from;  ///< resumes from this round's checkpoint
  /// Replaces a process that died: resumes from its newest checkpoint, or else takes a neighbour's
  /// model, without a long wait for missing neighbours.
  bool rejoin = false;
  Time clock{0};  ///< the fleet's training clock at its start
};

/// The settings and callbacks that the process gives to a peer.
struct TcpPeerOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< 0 for any free port
  Time connect_deadline{std::chrono::seconds(30)};
  /// Folder of the peer's checkpoints and, if the fleet file sets it, its ledger; empty for none.
  std::string folder;
  PeerPast past{};
  std::function<void()> on_ready;  ///< called when all links are up; on the loop
  /// Called when a neighbour begins to read our payloads in shared memory; on the loop.
  std::function<void(PeerId)> on_share;
  /// Called four times a second.
  std::function<void(const PeerProgress&)> on_progress;
  std::function<void(Report)> on_report;
  /// Called from a job with a checkpoint that may be held if all others have it too; hold() is the
  /// answer. If empty, no checkpoint is held, and only the newest are kept.
  std::function<void(Round)> on_candidate{};
  std::function<void(const std::string&)> on_no_space{};  ///< see TcpJournal
  std::function<void(const std::string&)> log;
  std::shared_ptr<const TlsContext> keys{};  ///< null for none, or for use_keys()
  PeerParts parts{};                         ///< replacements of the real parts
  /// Runs the replica's arithmetic; null for a thread of the peer's own.
  std::shared_ptr<Arithmetic> home{};
  /// Called on the loop if a job of the arithmetic does not end (faults.stuck_after). If empty, the
  /// process ends itself.
  std::function<void()> on_stuck{};
};

/// One peer of a fleet over TCP: its replica, its world and the life of its algorithm.
class TcpPeer {
 public:
  /// Throws std::runtime_error if its checkpoint cannot be read, or if another user could have
  /// prepared its folder (model/checkpoint/checkpoint_store.h).
  TcpPeer(const Assembly& fleet, PeerId id, TcpPeerOptions options);
  ~TcpPeer();

  /// Sets the keys with which the peer proves its identity; before run().
  void use_keys(std::shared_ptr<const TlsContext> keys);
  /// Sets the token that its neighbours on this machine must know; before run().
  void use_token(std::shared_ptr<const RunToken> token);
  /// Binds and returns the port. Throws std::runtime_error if the port is taken.
  std::uint16_t listen();
  /// Trains until the end; throws std::runtime_error as TcpWorld::run does.
  void run(const std::vector<PeerAddress>& addresses);
  /// Ends after the current round, or at once while links are missing; from any thread.
  void stop();
  /// Stops likewise, with a checkpoint of that round.
  void stop_with_checkpoint();
  /// See Peer::halt, which passes its answer to `told` on the loop, and end_after; from any thread.
  void halt(std::function<void(Round)> told);
  void end_after(Round last);
  /// Keeps a checkpoint at the end of this round, unless it is past; from any thread.
  void keep_checkpoint(Round round);
  /// Holds a checkpoint, see CheckpointStore::hold; from any thread.
  void hold_checkpoint(Round round, Round next);
  /// Records every interval of the rounds first .. last; from any thread.
  void record_whole(Round first, Round last);
  /// Sets the new address of a restarted neighbour; from any thread.
  void readdress(const PeerAddress& address);
  /// Blocks connections with this neighbour for `length`; from any thread.
  void cut(PeerId neighbor, Time length);
  /// Ends run() at once, without messages to others; from any thread.
  void abandon();
  /// Returns the number of completed rounds, for a program in its turn (HeldTurns).
  Round round() const;
  /// See TcpWorld.
  std::vector<int> descriptors() const { return world_->descriptors(); }
  /// Begins a verb of the program (gossip/verbs/verbs.h) from any thread; calls `ended` on the
  /// loop, unless the loop ends first.
  void together(VerbCall call, std::function<void(VerbEnd)> ended);
  /// Calls f on the loop with the peers whose part of the current verb is missing; from any thread.
  void ask_missing(std::function<void(std::vector<PeerId>)> f);
  /// Begins a push to peer `call.root`, or a pull from it (transfers.h); otherwise as above.
  void push(VerbCall call, std::function<void(VerbEnd)> ended);
  void pull(VerbCall call, std::function<void(VerbEnd)> ended);
  /// See Verbs and Transfers.
  std::string objection_to(const VerbCall& call) const;
  /// Calls f(completed rounds) on the loop; from any thread.
  void ask(std::function<void(Round)> f);

 private:
  std::function<void(VerbEnd)> told_to(std::function<void(VerbEnd)> ended) const;
  void keep_books(const Hello& self, const Plan& plan, const std::string& folder);
  std::optional<Checkpoint> beginning(const TcpPeerOptions& options);
  void tell_progress();

  const Assembly& fleet_;
  std::function<void()> on_ready_;
  std::function<void(const PeerProgress&)> on_progress_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<CheckpointStore> checkpoints_;
  std::unique_ptr<LedgerFile> ledger_;
  std::unique_ptr<LifeRecord> record_;
  TcpJournal journal_;
  std::unique_ptr<TcpWorld> world_;
  PeerBody body_;
  Task<> life_;
};

}  // namespace gv
