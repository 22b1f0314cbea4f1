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

#include "peer/cli/embed/fault.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/wire/tcp/lent_thread.h"

namespace gv::embed {

/// A peer whose loop has a thread of its own. What the loop owns is touched through with(), as it
/// ends with the loop.
class ProgramLife {
 public:
  /// `arithmetic` is ended with the loop.
  ProgramLife(std::unique_ptr<TcpPeer> peer, std::shared_ptr<Arithmetic> arithmetic);
  ~ProgramLife();
  ProgramLife(const ProgramLife&) = delete;
  ProgramLife& operator=(const ProgramLife&) = delete;

  /// The places where all peers are to be found; nothing: there will be no training.
  using Addresses = std::optional<std::vector<PeerAddress>>;
  /// Trains from now on. `meet` is called on the loop's thread before the loop begins.
  void begin(std::function<Addresses(TcpPeer&)> meet);
  bool has_begun() const { return loop_.joinable(); }
  /// Calls f(peer) if it is still there.
  template <class F>
  void with(F f) {
    const std::lock_guard lock(mutex_);
    if (peer_) f(*peer_);
  }
  /// Ends as a process that dies does.
  void die();
  /// Returns whether the loop has ended, or ends within that time.
  bool over(std::chrono::nanoseconds at_most);
  /// The rounds that were done when the loop ended.
  Round rounds();
  /// Says what ended it, unless it ended in order.
  std::optional<Fault> failure();
  /// The first one counts.
  void fail(Fault fault);

  /// The loop stands still, and nothing of it is at work, until go_on(). What a child of this
  /// process is to close.
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

/// The turns that a program takes; what it has no answer to is over when it is asked. A turn that
/// another thread's job has brought, and that the program has not been given yet, is not one that
/// its next word could end.
class ProgramTurns : public HeldTurns {
 public:
  bool evaluates = false;
  bool saves = false;

  /// Gives the program the turn at hand; or `none`.
  Turn give() {
    const Turn turn = at_hand();
    if (turn != Turn::none) given_ = true;
    return turn;
  }
  /// Returns the turn that the program was given and has not ended; or `none`.
  Turn given() const { return given_ ? at_hand() : Turn::none; }
  /// Ends the turn given; without one it only takes what is told.
  void end_given(const Told& told) { given_.exchange(false) ? done(told) : tell(told); }

  void ask(Turn turn) override {
    if (turn == Turn::evaluate && !evaluates) return;
    if (turn == Turn::save && !saves) return;
    HeldTurns::ask(turn);
  }
  /// NaN stands for what the program has not said of its model.
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

/// The thread that does the arithmetic of a program's peer: the program's own while it waits, or
/// one of the library.
class Hands {
 public:
  explicit Hands(ProgramTurns& turns) : turns_(turns), lent_(std::make_shared<LentThread>(turns)) {}
  virtual ~Hands() = default;

  const std::shared_ptr<LentThread>& arithmetic() const { return lent_; }
  /// Waits for a turn on the program's thread, which is given it: see LentThread::lend.
  virtual Turn wait(std::chrono::nanoseconds at_most) {
    const Turn turn = lent_->lend(at_most);
    return turn == Turn::over ? turn : turns_.give();
  }
  /// See LentThread::help. In a turn no other thread does any job.
  void help(std::chrono::nanoseconds at_most) { lent_->help(at_most); }
  /// Makes help() come back soon; from any thread.
  void interrupt() { lent_->interrupt(); }
  /// Ends the turn given, or only tells.
  virtual void done(const Told& told) { turns_.end_given(told); }
  /// No more turns; see HeldTurns::close.
  virtual void close() { turns_.close(); }
  /// Returns whether no job can run now, for the program's thread.
  virtual bool rests() const { return true; }

 protected:
  ProgramTurns& turns_;
  std::shared_ptr<LentThread> lent_;
};

/// A thread of the library, which lends itself, and stands still while the program has a turn.
class OwnHands : public Hands {
 public:
  explicit OwnHands(ProgramTurns& turns);
  ~OwnHands() override;
  Turn wait(std::chrono::nanoseconds at_most) override;
  void done(const Told& told) override;
  void close() override;
  bool rests() const override { return over_ || turns_.at_hand() != Turn::none; }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;  ///< a turn has come, or is over
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// A thread that takes none of the process's signals: they are for the program's own threads.
/// `name`: 15 bytes at most.
std::thread quiet_thread(const char* name, std::function<void()> work);

}  // namespace gv::embed
