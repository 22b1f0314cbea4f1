#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/runtime/assembly.h"
#include "peer/runtime/peer_plan.h"
#include "peer/runtime/tcp_journal.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The progress of a peer, and what it waited for.
struct PeerProgress {
  Round round = 0;
  Spent spent;
  std::vector<std::pair<PeerId, Waits>> waits;  ///< by neighbour, ascending
  Round staleness = 0;                          ///< since the last one, the greatest
  std::size_t queue = 0;                        ///< since the last one, the longest
};

/// The things that a peer's surroundings give it.
struct TcpPeerOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< 0: any free one
  Time connect_deadline{std::chrono::seconds(30)};
  /// The folder where the peer keeps its checkpoints and, where the fleet asks for it, its ledger;
  /// empty: nowhere.
  std::string folder;
  std::optional<Round> from;  ///< goes on from the checkpoint of this round
  /// Takes the place of a process that died: goes on from its newest checkpoint, or else from a
  /// neighbour's model, without waiting long for the neighbours that are not there.
  bool rejoin = false;
  Time clock{0};                   ///< what the fleet's training clock shows as it begins
  std::function<void()> on_ready;  ///< all links are up; on the loop
  /// The neighbour reads our payloads in shared memory from now on; on the loop.
  std::function<void(PeerId)> on_share;
  /// Four times a second.
  std::function<void(const PeerProgress&)> on_progress;
  std::function<void(Report)> on_report;
  /// A checkpoint that may be held, if all others have it too: hold() answers. From a job; empty:
  /// nobody does, and only the newest are kept.
  std::function<void(Round)> on_candidate{};
  std::function<void(const std::string&)> on_no_space{};  ///< see TcpJournal
  std::function<void(const std::string&)> log;
  std::shared_ptr<const TlsContext> keys{};  ///< null: none, or use_keys() gives them
  PeerParts parts{};                         ///< instead of the real ones
  /// Does the replica's arithmetic; null: a thread of the peer's own.
  std::shared_ptr<Arithmetic> home{};
  /// One job of the arithmetic does not end (faults.stuck_after); on the loop. Empty: the process
  /// ends itself.
  std::function<void()> on_stuck{};
};

/// One peer of a fleet over TCP: its replica, its world and the life of its algorithm.
class TcpPeer {
 public:
  /// Throws std::runtime_error when the checkpoint it is to go on from cannot be had, or its folder
  /// is one that a stranger could have prepared (model/checkpoint/checkpoint_store.h).
  TcpPeer(const Assembly& fleet, PeerId id, TcpPeerOptions options);
  ~TcpPeer();

  /// Takes, before run(), the keys that the peer proves itself with.
  void use_keys(std::shared_ptr<const TlsContext> keys);
  /// Takes, before run(), what its neighbours on this machine must know.
  void use_token(std::shared_ptr<const RunToken> token);
  /// Binds; returns the port. Throws std::runtime_error when it is taken.
  std::uint16_t listen();
  /// Trains until the end; throws std::runtime_error as TcpWorld::run does.
  void run(const std::vector<PeerAddress>& addresses);
  /// Leaves after the current round, or at once while links are missing; from any thread.
  void stop();
  /// Does so with a checkpoint of that round.
  void stop_with_checkpoint();
  /// See Peer::halt, whose answer `told` gets on the loop, and Peer::end_after; from any thread.
  void halt(std::function<void(Round)> told);
  void end_after(Round last);
  /// Keeps a checkpoint at the end of this round, if it is still to come; from any thread.
  void keep_checkpoint(Round round);
  /// Holds a checkpoint, see CheckpointStore::hold; from any thread.
  void hold_checkpoint(Round round, Round next);
  /// Records every interval of these rounds, both included; from any thread.
  void record_whole(Round first, Round last);
  /// Says where a neighbour that was restarted is to be found now; from any thread.
  void readdress(const PeerAddress& address);
  /// Allows no connection with this neighbour for so long; from any thread.
  void cut(PeerId neighbor, Time length);
  /// Ends run() at once, without a word to anybody; from any thread.
  void abandon();
  /// Returns the rounds completed, for a program in its turn (HeldTurns).
  Round round() const;
  /// See TcpWorld.
  std::vector<int> descriptors() const { return world_->descriptors(); }
  /// Begins a verb of the program's (gossip/verbs.h), from any thread; `ended` is called on the
  /// loop, and not where the loop ends before it.
  void together(VerbCall call, std::function<void(VerbEnd)> ended);
  /// Runs f(whose part in the verb at hand has not come) on the loop; from any thread.
  void ask_missing(std::function<void(std::vector<PeerId>)> f);
  /// Begins likewise a push to peer `call.root`, or a pull from it (gossip/transfers.h).
  void push(VerbCall call, std::function<void(VerbEnd)> ended);
  void pull(VerbCall call, std::function<void(VerbEnd)> ended);
  /// See Verbs and Transfers.
  std::string objection_to(const VerbCall& call) const;
  /// Runs f(rounds completed) on the loop; from any thread.
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
