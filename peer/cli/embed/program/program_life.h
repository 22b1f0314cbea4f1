#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "peer/cli/embed/calls/fault.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/wire/tcp/lent_thread.h"

namespace gv::embed {

/// A peer whose loop has its own thread. Everything that the loop owns is accessed through with(),
/// because it ends with the loop.
class ProgramLife {
 public:
  /// Ends `arithmetic` with the loop.
  ProgramLife(std::unique_ptr<TcpPeer> peer, std::shared_ptr<Arithmetic> arithmetic);
  ~ProgramLife();
  ProgramLife(const ProgramLife&) = delete;
  ProgramLife& operator=(const ProgramLife&) = delete;

  /// Addresses of all peers; nothing if there will be no training.
  using Addresses = std::optional<std::vector<PeerAddress>>;
  /// Starts training. `meet` is called on the loop's thread before the loop begins.
  void begin(std::function<Addresses(TcpPeer&)> meet);
  bool has_begun() const { return loop_.joinable(); }
  /// Calls f(peer) if the peer still exists.
  template <class F>
  void with(F f) {
    const std::lock_guard lock(mutex_);
    if (peer_) f(*peer_);
  }
  /// Ends the peer like a process that dies.
  void die();
  /// Returns whether the loop has ended, or ends within that time.
  bool over(std::chrono::nanoseconds at_most);
  /// Returns the number of completed rounds when the loop ended.
  Round rounds();
  /// Returns the error that ended the loop, or nothing if it ended in order.
  std::optional<Fault> failure();
  /// Sets the error; the first one counts.
  void fail(Fault fault);

  /// Pauses the loop and its work until go_on(). Returns the descriptors that a child must close.
  std::vector<int> pause();
  void go_on();

 private:
  void live(const std::function<Addresses(TcpPeer&)>& meet);
  void stand_still();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<TcpPeer> peer_;
  std::shared_ptr<Arithmetic> arithmetic_;
  std::optional<Fault> failure_;
  bool over_ = false;
  Round rounds_ = 0;
  bool pausing_ = false;
  bool stands_ = false;
  std::vector<int> descriptors_;
  std::thread loop_;
};

/// The turns of a program. A turn that the program cannot answer ends at once. If a job of another
/// thread has brought a turn that the program has not received yet, the program's next report does
/// not end that turn.
class ProgramTurns : public HeldTurns {
 public:
  bool evaluates = false;
  bool saves = false;

  /// Gives the current turn to the program; or returns `none`.
  Turn give() {
    const Turn turn = at_hand();
    if (turn != Turn::none) given_ = true;
    return turn;
  }
  /// Returns the turn that the program was given and has not ended, or `none`.
  Turn given() const { return given_ ? at_hand() : Turn::none; }
  /// Ends the given turn; without one, only takes the report.
  void end_given(const Told& told) { given_.exchange(false) ? done(told) : tell(told); }

  void ask(Turn turn) override {
    if (turn == Turn::evaluate && !evaluates) return;
    if (turn == Turn::save && !saves) return;
    HeldTurns::ask(turn);
  }
  /// Returns NaN for the loss of a program that has not reported one.
  Told told() const override {
    Told told = HeldTurns::told();
    if (!told.evaluation)
      told.evaluation =
          Evaluation{.loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = {}};
    return told;
  }

 private:
  std::atomic<bool> given_ = false;
};

/// The thread for the arithmetic of a program's peer: the program's while it waits, or a library's.
class TurnSource {
 public:
  explicit TurnSource(ProgramTurns& turns)
      : turns_(turns), lent_(std::make_shared<LentThread>(turns)) {}
  virtual ~TurnSource() = default;

  const std::shared_ptr<LentThread>& arithmetic() const { return lent_; }
  /// Waits on the program's thread for a turn, and gives it to the program: see LentThread::lend.
  virtual Turn wait(std::chrono::nanoseconds at_most) {
    const Turn turn = lent_->lend(at_most);
    return turn == Turn::over ? turn : turns_.give();
  }
  /// See LentThread::help. In a turn no other thread does any job.
  void help(std::chrono::nanoseconds at_most) { lent_->help(at_most); }
  /// Makes help() return soon; from any thread.
  void interrupt() { lent_->interrupt(); }
  /// Ends the given turn, or only takes the report.
  virtual void done(const Told& told) { turns_.end_given(told); }
  /// Ends all turns; see HeldTurns::close.
  virtual void close() { turns_.close(); }
  /// Returns whether no job can run now, for the program's thread.
  virtual bool rests() const { return true; }

 protected:
  ProgramTurns& turns_;
  std::shared_ptr<LentThread> lent_;
};

/// A thread of the library that lends itself, and pauses while the program has a turn.
class OwnTurnSource : public TurnSource {
 public:
  explicit OwnTurnSource(ProgramTurns& turns);
  ~OwnTurnSource() override;
  Turn wait(std::chrono::nanoseconds at_most) override;
  void done(const Told& told) override;
  void close() override;
  bool rests() const override { return over_ || turns_.at_hand() != Turn::none; }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;  ///< signals a turn's start or end
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// Starts a thread that blocks all signals, which are the program's. `name`: at most 15 bytes.
std::thread quiet_thread(const char* name, std::function<void()> work);

}  // namespace gv::embed
