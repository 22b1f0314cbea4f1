#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gossip/costs.h"
#include "gossip/message.h"
#include "peer/launch/control.h"
#include "peer/launch/process.h"
#include "peer/launch/stop_signals.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/record/watch/orders.h"
#include "peer/runtime/assembly.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// The rule by which a peer that has died is started again. Who dies again and again is started
/// after longer and longer pauses, and then no more; who has lived for a while before begins to
/// count again, however often it has died in a long run.
class Restarts {
 public:
  /// The time after which a peer is not one that dies again and again.
  static constexpr Time a_while{std::chrono::seconds(10)};
  static constexpr int most_in_a_row = 10;

  /// The pause before the next start of a process that has lived for so long; nothing: it has died
  /// too often.
  std::optional<Time> pause_after(Time lived);
  void count() { ++all_; }
  /// Returns the number of restarts in the whole run.
  int all() const { return all_; }

 private:
  int all_ = 0;
  int in_a_row_ = 0;
};

/// The point from which a run goes on.
struct Resumed {
  std::vector<Costs> costs{};   ///< of each peer until then
  Round round = 0;              ///< all peers go on from their checkpoints of this one
  double seconds = 0;           ///< of training until then
  double training_seconds = 0;  ///< the same without evaluations and checkpoints
  Recalled recalled{};          ///< of its evaluations until then
};

struct LaunchOptions {
  std::optional<Resumed> from;
  Orders* orders = nullptr;      ///< what others ask for while it runs; null: nobody can
  std::vector<PeerKeys> keys{};  ///< of each peer, for this run; empty: none is needed
};

/// A peer that ended without its last words.
struct LostPeer {
  PeerId peer;
  pid_t pid;
  Round round;
  std::string ending;      ///< "killed by signal 9"
  std::string last_words;  ///< the last line it logged
  std::string log_path;
  bool restarted = false;  ///< another process took its place
};

struct LaunchScreen {
  std::function<void(PeerId, const std::string& line)> on_log;
  std::function<void(const FleetRecord&)> on_record;
  std::function<void(const LostPeer&)> on_lost;
  std::function<void(const std::string&)> on_note;
  /// About ten times a second while peers train: the slowest peer's round, and who is there.
  std::function<void(Round round, double seconds, std::size_t alive)> on_tick;
  /// About ten times a second from the start, and once at the end.
  std::function<void(FleetState)> on_state{};
  /// Another process took the place of a lost peer; empty: nobody asks.
  std::function<void(PeerId)> on_restarted{};
};

struct LaunchResult {
  int code = 0;  ///< exit_code
  double seconds = 0;
  std::vector<LostPeer> lost;
  std::size_t gone = 0;                    ///< lost and not replaced
  bool asked_to_stop = false;              ///< by an order (orders.h)
  std::vector<std::string> not_fetched{};  ///< hosts from which what their peers left did not come
  std::set<Edge> shared{};  ///< whose payloads were read in shared memory, (lower id, higher id)
};

/// Starts all peers of a fleet in their places, watches them and gathers what they report. Takes no
/// part in training. One thread, one poll loop. No peer outlives it, however it ends.
class Launcher {
 public:
  /// Starts the processes. Throws std::runtime_error when one cannot be started.
  Launcher(const Assembly& fleet,
           const RunFolder& folder,
           Observer& observer,
           Places& places,
           LaunchOptions options,
           LaunchScreen screen);
  ~Launcher();

  /// Works until every peer has ended.
  LaunchResult run();

 private:
  struct Slot {
    std::unique_ptr<Process> process;
    std::string folder;
    std::FILE* log = nullptr;
    pid_t kept_pid = 0;  ///< in its file
    std::uint16_t port = 0;
    bool listens = false;  ///< this process has said its port, and was told the others'
    bool ready = false;
    bool finished = false;  ///< its last report has come
    bool refused = false;   ///< a report of this process made no sense: it was killed
    Round round = 0;
    double heard = 0;  ///< seconds() when it said so
    std::string last_words;
    std::optional<std::uint64_t> sent_bytes;  ///< as of `reported` rounds
    Spent spent;                              ///< the newest that it told, of this process
    Costs earlier;                            ///< of its processes before this one
    Costs told;                               ///< of this one, as its newest report says
    std::vector<NeighborWait> waits{};        ///< the same
    Round staleness = 0;                      ///< the same
    std::size_t queue = 0;                    ///< the same
    Round reported = 0;
    std::optional<Round> kept{};  ///< a checkpoint of this process that may be held
    std::optional<Round>
        halts;  ///< the round at whose end the peer waits for the agreement on the last round
    Restarts restarts{};
    std::optional<std::chrono::steady_clock::time_point> ready_at;  ///< of this process
    std::optional<std::chrono::steady_clock::time_point> restart_at;
    std::optional<std::chrono::steady_clock::time_point> stopped_until;
  };
  enum class Phase { starting, connecting, training };

  void start(PeerId id, const std::vector<std::string>& past);
  void restart_when_due();
  void say_not_restarted(PeerId id);
  bool restart_later(PeerId id);
  bool has_company(PeerId id) const;
  void end_who_comes_too_late();
  void introduce(PeerId id);
  void wait_for_events();
  bool can_hear() const;
  void hear(PeerId id);
  void heed(PeerId id, const control::PeerSays& says);
  void refuse(PeerId id, const std::string& why);
  bool receive_model(PeerId id, Report& report);
  void take_report(PeerId id, control::Reported says);
  void take_candidate(PeerId id, Round round);
  void tell_no_space(PeerId id, const std::string& what);
  void end_broken(PeerId by);
  void note_broken(PeerId by);
  void note_part_ended(PeerId by, const std::string& text);
  void ended(PeerId id);
  void ended_after_goodbye(PeerId id);
  std::vector<PeerAddress> addresses(PeerId by) const;
  void keep_pid(PeerId id);
  std::string first_addresses(PeerId id) const;
  void send_addresses();
  void pass_over_injections();
  void inject_when_due();
  void inject(const Injection& injection);
  void check_time_and_target();
  std::string aim_text() const;
  void take_signals();
  void kill_in_time();
  void stop_in_order();
  void agree_on_last_round();
  bool within_reach(Round last) const;
  void begin_to_stop();
  void stop_all();
  void kill_all();
  void end_silent();
  bool any_running() const;
  std::size_t gone() const;
  LaunchResult result() const;
  void show_state(bool ended);
  PeerState state_of(PeerId id) const;
  Round slowest_round() const;
  void take_orders();
  void order_checkpoint(std::uint64_t number);
  void order_record(const Order& order);
  Round fastest_round() const;
  std::string why_not_now() const;
  void tell_all(const std::string& line);
  double seconds() const;
  double seconds_at_end() const;
  double training_seconds() const;
  std::size_t alive() const;

  const Assembly& fleet_;
  const RunFolder& folder_;
  Observer& observer_;
  Places& places_;
  LaunchOptions options_;
  LaunchScreen screen_;
  StopSignals signals_;
  const RunToken token_;
  Resumed past_{};  ///< all 0: it begins
  std::vector<Slot> slots_;
  Phase phase_ = Phase::starting;
  bool stopping_ = false;
  bool failed_to_start_ = false;
  bool too_few_ = false;               ///< less than faults.min_peers
  bool failed_after_goodbye_ = false;  ///< a script's exit code was not 0
  bool broken_ = false;  ///< a collective could not be completed, and the algorithm ended early
  std::set<PeerId> parts_ended_;  ///< for want of whom, where the others go on
  std::optional<std::chrono::steady_clock::time_point> began_, ended_, kill_at_;
  /// By then every peer that is not stuck has answered the order to stop.
  std::optional<std::chrono::steady_clock::time_point> silent_until_;
  /// Until `agree_by_` the peers answer after which round they can end. Then the launcher sends all
  /// of them one round; a peer that has not reached it by `stop_by_` stops at once.
  std::optional<std::chrono::steady_clock::time_point> agree_by_, stop_by_;
  std::vector<LostPeer> lost_;
  std::set<Edge> shared_;
  std::size_t injected_ = 0;  ///< so many of faults.inject are done
  std::chrono::steady_clock::time_point state_due_{};
  std::optional<OrderAnswer> checkpoint_;
  std::optional<OrderAnswer> record_;
  bool stop_ordered_ = false;
  std::set<std::string> full_;  ///< hosts of which it was said that their disks are
  control::Hold hold_{};        ///< what was last told of checkpoints; 0: nothing
};

}  // namespace gv
