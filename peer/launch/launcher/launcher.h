#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gossip/seam/costs.h"
#include "gossip/seam/message.h"
#include "peer/launch/process/control.h"
#include "peer/launch/process/process.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// Decides when a peer that has died is restarted. A peer that keeps dying is restarted after
/// growing pauses, then given up. A process that lived for `a_while` resets the count, however
/// often its peer has died in a long run.
class Restarts {
 public:
  /// Lifetime after which a death does not belong to a series of deaths.
  static constexpr Time a_while{std::chrono::seconds(10)};
  static constexpr int most_in_a_row = 10;

  /// Returns the pause before the next start, after a process that lived for `lived`. Returns
  /// nothing if the peer has died too often.
  std::optional<Time> pause_after(Time lived);
  void count() { ++all_; }
  /// Returns the number of restarts in the whole run.
  int all() const { return all_; }

 private:
  int all_ = 0;
  int in_a_row_ = 0;
};

/// State from which a run resumes.
struct Resumed {
  std::vector<Costs> costs{};   ///< costs per peer until then
  Round round = 0;              ///< all peers resume from their checkpoints of this round
  double seconds = 0;           ///< training time until then
  double training_seconds = 0;  ///< `seconds` without evaluations and checkpoints
  Recalled recalled{};          ///< evaluations until then
};

struct LaunchOptions {
  std::optional<Resumed> from;
  Orders* orders = nullptr;      ///< orders from outside during the run; null if none are taken
  std::vector<PeerKeys> keys{};  ///< keys per peer for this run; empty if none are needed
};

/// A peer that ended without its last report.
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
  /// Called about ten times a second while peers train: the slowest round, and the number alive.
  std::function<void(Round round, double seconds, std::size_t alive)> on_tick;
  /// Called about ten times a second from the start, and once at the end.
  std::function<void(FleetState)> on_state{};
  /// Called when another process has taken the place of a lost peer. May be empty.
  std::function<void(PeerId)> on_restarted{};
};

struct LaunchResult {
  int code = 0;  ///< exit_code
  double seconds = 0;
  std::vector<LostPeer> lost;
  std::size_t gone = 0;                    ///< number of peers lost and not replaced
  bool asked_to_stop = false;              ///< an order asked the run to stop (orders.h)
  std::vector<std::string> not_fetched{};  ///< hosts whose peers' files could not be fetched
  std::set<Edge> shared{};  ///< edges with payloads read in shared memory, (lower id, higher id)
};

/// Starts all peers of a fleet in their places, watches them and collects their reports, but takes
/// no part in training. Has one thread with one poll loop. No peer outlives it, however it ends.
class Launcher {
 public:
  /// Starts the processes. Throws std::runtime_error if one cannot be started.
  Launcher(const Assembly& fleet,
           const RunFolder& folder,
           Observer& observer,
           Places& places,
           LaunchOptions options,
           LaunchScreen screen);
  ~Launcher();

  /// Runs until every peer has ended.
  LaunchResult run();

 private:
  struct Slot {
    std::unique_ptr<Process> process;
    std::string folder;
    std::FILE* log = nullptr;
    pid_t kept_pid = 0;  ///< pid written to the peer's file
    std::uint16_t port = 0;
    bool listens = false;  ///< this process has reported its port and received the others'
    bool ready = false;
    bool returns = false;   ///< it takes the place of a lost process, and its pid is not known yet
    bool finished = false;  ///< its last report has arrived
    bool refused = false;   ///< killed, because a report of this process made no sense
    Round round = 0;
    double heard = 0;  ///< seconds() when `round` was reported
    std::string last_words;
    std::optional<std::uint64_t> sent_bytes;  ///< as of `reported` rounds
    Spent spent;                              ///< newest value that this process has reported
    Costs earlier;                            ///< costs of the peer's earlier processes
    Costs told;                               ///< costs of this process in its newest report
    std::vector<NeighborWait> waits{};        ///< from its newest progress line
    Round staleness = 0;                      ///< from its newest progress line
    std::size_t queue = 0;                    ///< from its newest progress line
    Round reported = 0;
    std::optional<Round> kept{};  ///< checkpoint of this process that may be held
    std::optional<Round>
        halts;  ///< the round at whose end the peer waits for the agreement on the last round
    Restarts restarts{};
    std::optional<std::chrono::steady_clock::time_point> ready_at;  ///< when this process was ready
    std::optional<std::chrono::steady_clock::time_point> restart_at;
    std::optional<std::chrono::steady_clock::time_point> stopped_until;

    bool works() const { return process->running() && !returns; }
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
  void handle_message(PeerId id, const control::PeerSays& says);
  void refuse(PeerId id, const std::string& why);
  bool receive_model(PeerId id, Report& report);
  void take_report(PeerId id, control::Reported says);
  void take_candidate(PeerId id, Round round);
  void tell_no_space(PeerId id, const std::string& what);
  void end_broken(PeerId by);
  void note_broken(PeerId by);
  void note_part_ended(PeerId by, const std::string& text);
  LostPeer* lost_before(PeerId id);
  void note_loss(PeerId id);
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
  Resumed past_{};  ///< all 0 in a new run
  std::vector<Slot> slots_;
  Phase phase_ = Phase::starting;
  bool stopping_ = false;
  bool failed_to_start_ = false;
  bool too_few_ = false;               ///< fewer peers than faults.min_peers
  bool failed_after_goodbye_ = false;  ///< a script's exit code was not 0
  bool broken_ = false;  ///< a collective could not be completed, and the algorithm ended early
  std::set<PeerId> parts_ended_;  ///< lost peers without which only a part of the fleet ended
  std::optional<std::chrono::steady_clock::time_point> began_, ended_, kill_at_;
  /// Time by which every peer that is not stuck has answered the order to stop.
  std::optional<std::chrono::steady_clock::time_point> silent_until_;
  /// Until `agree_by_` the peers report the round after which they can end. Then the launcher sends
  /// one round to all; a peer that has not reached it by `stop_by_` stops at once.
  std::optional<std::chrono::steady_clock::time_point> agree_by_, stop_by_;
  std::vector<LostPeer> lost_;
  std::set<Edge> shared_;
  std::size_t injected_ = 0;  ///< number of faults.inject entries that are done
  std::chrono::steady_clock::time_point state_due_{};
  std::optional<OrderAnswer> checkpoint_;
  std::optional<OrderAnswer> record_;
  bool stop_ordered_ = false;
  std::set<std::string> full_;  ///< hosts whose full disks were reported
  control::Hold hold_{};        ///< newest message about checkpoints; 0 if there is none
};

}  // namespace gv
