#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "gossip/link/carrier.h"
#include "gossip/message.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/ledger.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// Knows whether all neighbours take part, which a checkpoint says of the rounds before it. The
/// loop tells it, and a job asks.
class Attendance {
 public:
  /// Takes what a link says of a neighbour that has not said goodbye.
  void heard(LinkEvent event, PeerId neighbor);
  /// Returns whether a neighbour was missing since the last call, or is now.
  bool take_missed();

 private:
  std::set<PeerId> missing_;
  std::atomic<bool> somebody_missing_ = false;
  std::atomic<bool> somebody_missed_ = false;
};

/// The journal of a peer over TCP: it tells its launcher or screen, its disk, its ledger and log.
struct TcpJournal : Journal {
  std::function<void(Report)> on_report;
  std::function<void(const std::string&)> log;  ///< one line, no newline
  CheckpointStore* checkpoints = nullptr;       ///< null: none are kept
  /// Another checkpoint may be held (CheckpointStore::hold); from a job. Empty: nobody holds any.
  std::function<void(Round)> on_candidate{};
  /// The disk is full, and what then could not be written; once until there is room again. From
  /// any thread; empty: it is logged.
  std::function<void(const std::string&)> on_no_space{};
  LedgerFile* ledger = nullptr;     ///< null: none is kept
  LifeRecord* record = nullptr;     ///< null: none is kept
  const TcpWorld* world = nullptr;  ///< knows which process a neighbour is

  Attendance attendance;

  Round staleness = 0;    ///< of what came since somebody set it back, the greatest
  std::size_t queue = 0;  ///< that waited since then, the most

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
