#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"
#include "gossip/seam/journal.h"
#include "gossip/seam/message.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/ledger.h"
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

}  // namespace gv
