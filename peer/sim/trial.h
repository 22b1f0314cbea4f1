#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optim/rng.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/sim/simulation.h"
#include "peer/sim/world/audit.h"
#include "peer/sim/world/fault_injector.h"
#include "peer/sim/world/faults.h"

namespace gv {

/// A disk in memory that fails on demand, and loses what a machine's page cache would lose. It is
/// harsher than any real file system: each page and each folder change that was not synced survives
/// or is lost independently.
class SimDisk : public Disk {
 public:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  /// Files take whole pages; a write beyond the capacity stores what still fits and fails.
  explicit SimDisk(std::uint64_t capacity_bytes = unlimited) : capacity_(capacity_bytes) {}
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  std::uint64_t used_bytes() const;

  /// Fails one operation after n more, without effect; if it is a write and `partly`, with half of
  /// its bytes.
  void fail_after(std::uint64_t n, bool partly = false);
  /// Fails all operations after n more, until crash().
  void lose_power_after(std::uint64_t n) { power_left_ = n; }
  /// Simulates a power failure with one of the possible outcomes, chosen by the seed. A file that
  /// was not synced has the old or the new length or one between, and each of its pages is old,
  /// new, zero or garbage.
  void crash(std::uint64_t seed);

  Verdict write(const std::string& path, std::span<const std::byte> bytes) override;
  Verdict sync(const std::string& path) override;
  Verdict rename(const std::string& from, const std::string& to) override;
  Verdict sync_folder(const std::string& folder) override;
  Verdict list(const std::string& folder, std::vector<std::string>& names) override;
  Verdict read(const std::string& path, std::vector<std::byte>& bytes) override;
  Verdict remove(const std::string& path) override;
  Verdict make_folder(const std::string& folder) override;

 private:
  using Bytes = std::vector<std::byte>;
  struct File {
    Bytes cached;
    Bytes durable;  ///< content at the last sync
    bool synced = true;
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;  ///< by path
  /// A change of a folder that is not yet durable.
  struct Change {
    std::string folder;
    std::string removed;  ///< path; may be none
    std::string added;    ///< path; may be none
    std::shared_ptr<File> file;
  };

  Verdict begin();
  void change(Change c);
  static void apply(const Change& c, Names& names);
  static void settle(File& file, Rng& rng);

  std::uint64_t capacity_;
  std::optional<std::uint64_t> failure_in_;  ///< operations before the failure
  bool partly_ = false;
  std::optional<std::uint64_t> power_left_;
  std::set<std::string> folders_{".", "/"};  ///< durable immediately
  Names cached_;
  Names durable_;
  std::vector<Change> changes_;  ///< in order
};

/// A simulated peer's checkpoints on a disk that fills up and loses power. Checks that a loaded
/// checkpoint is whole, and never older than the last acknowledged one.
class SimCheckpointStore {
 public:
  explicit SimCheckpointStore(PeerId peer)
      : store_(disk_, "checkpoints", std::string(32, 'f'), std::string(32, 'm'), peer, 2) {}

  /// Makes the disk full for the next `saves`.
  void fill(int saves) { full_for_ = saves; }
  void tear() { torn_ = true; }

  enum class Saved { yes, no, torn };  ///< torn: the power failed during the save
  Saved save(Round round, std::vector<std::byte> state, FaultInjector& injector);
  /// Handles the death of the process, which loses what was not on disk.
  void lose_power(FaultInjector& injector);
  /// Loads the checkpoint from which a successor resumes; nothing if there is none.
  std::optional<Checkpoint> load(std::vector<std::string>& violations);

 private:
  SimDisk disk_;
  CheckpointStore store_;
  std::optional<Round> acknowledged_;
  int full_for_ = 0;
  bool torn_ = false;
};

/// A simulated fleet under faults, and its judgement. Rules that must always hold: every flow is
/// applied at both ends or neither, once, and opposite; a vector is the result of its own steps and
/// the flows in its ledger; values that are not finite do not spread; no peer waits for ever. If a
/// neighbour lies, the rules hold for all others: the liar can neither end their training early nor
/// fill their memory.
class Trial {
 public:
  /// Starts another life of a peer that has lost its memory.
  using Begin = std::function<Peer*(Life, const std::optional<Checkpoint>& past)>;

  Trial(const FaultPlan& plan, const LinkParts& parts, SimShared& shared, Begin begin);

  /// Adds a life that is about to start; its replica is an AccountedReplica.
  void born(Life life, Peer& peer, Task<>& task);
  void start();
  /// Returns whether nothing that is judged can happen any more. Called between two events; if a
  /// peer lies, also checks the honest peers' memory.
  bool over();
  Faults& faults() { return faults_; }
  void judge(SimulationResult& result);

 private:
  struct Record {
    Life life;
    Peer* peer = nullptr;
    Task<>* task = nullptr;
    bool started = false;  ///< its link layer has found enough neighbours
    bool dead = false;
    bool poisoned = false;
    bool liar = false;
    const AccountedReplica& replica() const {
      return static_cast<const AccountedReplica&>(peer->replica);
    }
  };

  /// Returns whether the fleet can make no more progress, or the run is much too long.
  bool stuck();
  bool stands_still(Time now);
  void look();
  void die(PeerId peer);
  void rise(PeerId peer);
  bool poison(PeerId peer);
  bool lie(PeerId peer);
  bool honest_have_ended();
  void check_leap(PeerId peer, Round to);
  void begin_to_judge_pace(const std::vector<Accident>& accidents);
  std::vector<Accident> accidents();
  bool deadline_leaves_time();
  void note_given_up(PeerId by, PeerId peer);
  bool excused(PeerId a, PeerId b) const { return given_up_.contains(std::minmax(a, b)); }
  void check_memory();
  bool works(PeerId peer);
  void keep(PeerId peer, Round round, std::vector<std::byte> state);
  void begin(std::size_t record);
  void forget_missing();
  Record& present(PeerId peer) { return records_[present_[peer]]; }
  bool may_be_poisoned(const Record& record) const;
  bool gone(Life life) const;
  bool met_a_liar(PeerId id, PeerId other);
  bool alone(const Record& record);
  void check_ends(SimulationResult& result);
  void check_end(const Record& record);
  void check_exchanges(const Record& record);
  double drift(const Record& record);
  double drift_of_sum();
  double judge_drift(double drift, const std::string& of, double most);

  const FaultPlan& plan_;
  SimShared& shared_;
  Begin begin_;
  FaultInjector injector_;
  Audit audit_;
  Faults faults_;
  std::optional<Steadiness> steadiness_;
  std::set<std::pair<PeerId, PeerId>> given_up_;  ///< pairs for which the documents allow it
  Time got_on_at_;                                ///< last time that a new round was seen ...
  Round rounds_ = 0;                              ///< ... and the sum of all rounds then
  std::vector<Record> records_;
  std::deque<SimCheckpointStore> stores_;
  std::vector<std::size_t> present_;  ///< index of the last record of each peer
  std::vector<std::string> violations_;
  std::vector<std::vector<Round>> rounds_seen_;  ///< see FaultPlan::looks
  bool lied_ = false;
  bool deserted_ = false;    ///< some peer may have only one neighbour left
  std::uint64_t looks_ = 0;  ///< number of checks of the honest peers' memory
};

}  // namespace gv
