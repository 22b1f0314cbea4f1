#include "peer/cli/embed/program_life.h"

#include <exception>
#include <utility>

#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/quiet_thread.h"

namespace gv::embed {

ProgramLife::ProgramLife(std::unique_ptr<TcpPeer> peer, std::shared_ptr<Arithmetic> arithmetic)
    : peer_(std::move(peer)), arithmetic_(std::move(arithmetic)) {}

ProgramLife::~ProgramLife() {
  die();
}

void ProgramLife::die() {
  with([](TcpPeer& peer) { peer.abandon(); });
  if (loop_.joinable()) loop_.join();
}

void ProgramLife::begin(std::function<Addresses(TcpPeer&)> meet) {
  loop_ = quiet_thread("grapevine", [this, meet = std::move(meet)] { live(meet); });
}

/// The peer goes with its loop: its connections are closed, and whoever waits for a turn is told.
void ProgramLife::live(const std::function<Addresses(TcpPeer&)>& meet) {
  try {
    if (const Addresses all = meet(*peer_); all) peer_->run(*all);
  } catch (const ComputeError& e) {
    fail({GV_E_FAILED, e.what()});
  } catch (const PeersDisagree& e) {
    fail({GV_E_DISAGREES, e.what()});
  } catch (const Fault& fault) {
    fail(fault);
  } catch (const std::bad_alloc&) {
    fail({GV_E_FAILED, "there is not enough memory"});
  } catch (const std::exception& e) {
    fail({GV_E_LOST, e.what()});
  }
  {
    const std::lock_guard lock(mutex_);
    rounds_ = peer_->round();
  }
  arithmetic_->end();  // whoever waits for a turn hears now that it is over
  const std::lock_guard lock(mutex_);
  peer_.reset();
  over_ = true;
  changed_.notify_all();
}

bool ProgramLife::over(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return over_; });
}

Round ProgramLife::rounds() {
  const std::lock_guard lock(mutex_);
  return rounds_;
}

std::optional<Fault> ProgramLife::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ProgramLife::fail(Fault fault) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(fault);
}

/// Holds the loop, on which it is called, until go_on().
void ProgramLife::stand_still() {
  std::unique_lock lock(mutex_);
  if (!pausing_) return;
  descriptors_ = peer_->descriptors();
  stands_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !pausing_; });
  stands_ = false;
  changed_.notify_all();
}

/// Stops nothing before the loop has begun, as nobody else has the peer then.
std::vector<int> ProgramLife::pause() {
  std::unique_lock lock(mutex_);
  descriptors_.clear();
  if (!peer_) return {};
  if (!loop_.joinable()) return peer_->descriptors();
  pausing_ = true;
  peer_->ask([this](Round) { stand_still(); });
  changed_.wait(lock, [this] { return stands_ || over_; });
  return descriptors_;
}

void ProgramLife::go_on() {
  std::unique_lock lock(mutex_);
  pausing_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !stands_ || over_; });
}

}  // namespace gv::embed
