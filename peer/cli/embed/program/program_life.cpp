#include "peer/cli/embed/program/program_life.h"

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "optim/printable.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program/program_peer.h"
#include "peer/launch/manual/identity.h"
#include "peer/model/tensors/tensor_file.h"
#include "peer/record/disk/posix_disk.h"

namespace gv::embed {
namespace {

using Clock = std::chrono::steady_clock;

Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

}  // namespace

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

/// Runs the peer. With the loop's end the connections close, and every wait for a turn ends.
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
  arithmetic_->end();  // ends every wait for a turn
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

/// Blocks the loop, on which it is called, until go_on().
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

/// Has nothing to stop before the loop has begun, because no other thread uses the peer then.
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

// From a program's tensors to a peer.

std::uint16_t ProgramPeer::attach(std::span<const gv_tensor> tensors, const AttachWords& words) {
  if (life_ && life_->has_begun())
    throw Fault(GV_E_USE,
                "gv_attach comes before gv_begin: the tensors of a peer are always the "
                "same, and gv_point returns their new addresses");
  life_.reset();
  tensors_ = read_tensors(tensors);
  turns_.evaluates = words.evaluates;
  turns_.saves = words.saves;
  assembly_ = assemble(fleet_, tensors_.model);
  take_start();
  source_ = words.own_arithmetic ? std::make_unique<OwnTurnSource>(turns_)
                                 : std::make_unique<TurnSource>(turns_);
  make_peer();
  state_ = {.rejoined = words_.rejoin || words_.from.has_value(),
            .attached = true,
            .port = state_.port,
            .parameters = assembly_->dimension,
            .start = digest_of(tensors_),
            .model = assembly_->model_digest};
  return state_.port;
}

/// Loads x_0 from the file.
void ProgramPeer::take_start() {
  if (fleet_.fleet.start.empty()) return;
  try {
    load_values(start_values(fleet_.fleet.start, assembly_->parameters), tensors_);
  } catch (const std::exception& e) {
    throw Fault(GV_E_DISAGREES, e.what());
  }
}

TcpPeerOptions ProgramPeer::options() {
  TcpPeerOptions options;
  std::tie(options.listen_address, options.listen_port) = listens_at(fleet_, words_);
  options.connect_deadline = time_of(words_.wait_seconds);
  options.folder = words_.folder;
  options.past = {words_.from, words_.rejoin, time_of(words_.clock_seconds)};
  if (line_) line_->tell_all(options);
  options.on_report = [this, tell = options.on_report](Report report) {
    handle_report(report);
    keep(report);
    if (tell) tell(std::move(report));
  };
  options.log = [this](const std::string& line) { log(line); };
  if (!line_) options.keys = own_keys(fleet_.fleet, fleet_.id, words_.keys);
  options.home = source_->arithmetic();
  options.on_stuck = [this] {
    life_->fail(
        {GV_E_FAILED, "one piece of the peer's arithmetic did not end (faults.stuck_after)"});
    life_->with([](TcpPeer& peer) { peer.abandon(); });
  };
  options.parts.replica = [this](std::unique_ptr<Replica>) {
    auto replica = std::make_unique<ProgramReplica>(tensors_.x, turns_);
    replica_ = replica.get();
    return replica;
  };
  if (!line_) stop_in_time(options);
  return options;
}

/// Stops by the peer's own clock, without a launcher, whose clock would count.
void ProgramPeer::stop_in_time(TcpPeerOptions& options) {
  const std::optional<Time> most = fleet_.fleet.stop.time;
  if (!most) return;
  const auto began = std::make_shared<Clock::time_point>();
  options.on_ready = [began] { *began = Clock::now(); };
  options.on_progress = [this, began, most](const PeerProgress&) {
    if (Clock::now() - *began >= *most && !stopping_.exchange(true))
      life_->with([](TcpPeer& peer) { peer.stop(); });
  };
}

void ProgramPeer::make_peer() {
  try {
    if (!words_.folder.empty())
      if (const Verdict wrong = PosixDisk().make_folder(words_.folder); !wrong.empty())
        throw std::runtime_error(words_.folder + ": " + wrong);
    keep_reports();
    auto peer = std::make_unique<TcpPeer>(*assembly_, fleet_.id, options());
    state_.port = peer->listen();
    if (std::optional<std::string> state = replica_->take_restored()) restored_ = std::move(*state);
    life_ = std::make_unique<ProgramLife>(std::move(peer), source_->arithmetic());
  } catch (const Fault&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw Fault(GV_E_FAILED, e.what());
  }
}

/// Keeps the reports in the folder for `grapevine collect`, if there is no launcher.
void ProgramPeer::keep_reports() {
  if (line_ || words_.folder.empty()) return;
  const ReportsOf whose{
      .digest = fleet_.fleet.digest,
      .peer = fleet_.id,
      .peers = fleet_.fleet.size(),
      .file = words_.fleet.empty() ? "" : std::filesystem::absolute(words_.fleet).string(),
      .sets = words_.sets};
  reports_ =
      std::make_unique<PeerReports>(words_.folder, whose, words_.rejoin || words_.from.has_value());
}

/// Keeps a report. A full disk ends this, but not the training.
void ProgramPeer::keep(const Report& report) {
  if (!reports_) return;
  try {
    reports_->keep(report);
  } catch (const std::exception& e) {
    log(fmt::format("{}: nothing more is kept for `grapevine collect`", e.what()));
    reports_.reset();
    return;
  }
  const std::filesystem::path peers = std::filesystem::path(words_.folder).parent_path();
  if (report.last && peers.filename() == "peers")
    log(fmt::format("of all peers: grapevine collect {}",
                    shell_path(peers.parent_path().string())));
}

/// Handles a report. Without a launcher, stop.time ends each by its own clock: no error.
void ProgramPeer::handle_report(const Report& report) {
  if (report.left_by && (line_ || !fleet_.fleet.stop.time)) left_by_ = *report.left_by;
  if (!report.broken_by) return;
  life_->fail({GV_E_LOST, fmt::format("peer {} is lost, and {} cannot continue without it",
                                      *report.broken_by, assembly_->algorithm->kind)});
}

OwnTurnSource::OwnTurnSource(ProgramTurns& turns)
    : TurnSource(turns), thread_(quiet_thread("arithmetic", [this] { work(); })) {}

OwnTurnSource::~OwnTurnSource() {
  lent_->end();
  turns_.close();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OwnTurnSource::work() {
  for (;;) {
    const Turn turn = lent_->lend(std::chrono::seconds(1));
    std::unique_lock lock(mutex_);
    if (turn == Turn::over) {
      over_ = true;
      return changed_.notify_all();
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return turns_.at_hand() == Turn::none; });
  }
}

Turn OwnTurnSource::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return over_ || turns_.at_hand() != Turn::none; });
  return over_ ? Turn::over : turns_.give();
}

void OwnTurnSource::done(const Told& told) {
  const std::lock_guard lock(mutex_);
  turns_.end_given(told);
  changed_.notify_all();
}

void OwnTurnSource::close() {
  const std::lock_guard lock(mutex_);
  turns_.close();
  changed_.notify_all();
}

/// A thread inherits the signal mask of its creator, and so do the threads that it creates.
std::thread quiet_thread(const char* name, std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto restore = [&] { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); };
  try {
    std::thread thread([name, work = std::move(work)] {
      ::pthread_setname_np(::pthread_self(), name);
      work();
    });
    restore();
    return thread;
  } catch (...) {
    restore();
    throw;
  }
}

}  // namespace gv::embed
