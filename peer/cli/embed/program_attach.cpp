#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/embed/program_peer.h"
#include "peer/launch/identity.h"
#include "peer/model/tensors/start_values.h"
#include "peer/record/disk/posix_disk.h"

// How a program's tensors become a peer.

namespace gv::embed {
namespace {

using Clock = std::chrono::steady_clock;

Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::uint16_t ProgramPeer::attach(std::span<const gv_tensor> tensors, const AttachWords& words) {
  if (life_ && life_->has_begun())
    throw Fault(GV_E_USE,
                "gv_attach comes before gv_begin: the tensors of a peer are always the "
                "same, and gv_point says where they have gone");
  life_.reset();
  tensors_ = read_tensors(tensors);
  turns_.evaluates = words.evaluates;
  turns_.saves = words.saves;
  assembly_ = assemble(fleet_, tensors_.model);
  take_start();
  hands_ =
      words.own_arithmetic ? std::make_unique<OwnHands>(turns_) : std::make_unique<Hands>(turns_);
  make_peer();
  state_ = {.rejoined = words_.rejoin || words_.from.has_value(),
            .attached = true,
            .port = state_.port,
            .parameters = assembly_->dimension,
            .start = digest_of(tensors_),
            .model = assembly_->model_digest};
  return state_.port;
}

/// x_0 of a file.
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
  options.from = words_.from;
  options.rejoin = words_.rejoin;
  options.clock = time_of(words_.clock_seconds);
  if (line_) line_->tell_all(options);
  options.on_report = [this, tell = options.on_report](Report report) {
    heed(report);
    keep(report);
    if (tell) tell(std::move(report));
  };
  options.log = [this](const std::string& line) { log(line); };
  if (!line_) options.keys = own_keys(fleet_.fleet, fleet_.id, words_.keys);
  options.home = hands_->arithmetic();
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

/// A launcher has a clock of its own for the fleet.
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
    life_ = std::make_unique<ProgramLife>(std::move(peer), hands_->arithmetic());
  } catch (const Fault&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw Fault(GV_E_FAILED, e.what());
  }
}

/// What a launcher would hear, `grapevine collect` finds in the folder.
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

/// A disk that is full ends the notes, and not the training.
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
                    shell_word(peers.parent_path().string())));
}

/// With stop.time every script ends by its own clock, so that an earlier end is no mistake.
void ProgramPeer::heed(const Report& report) {
  if (report.left_by && !fleet_.fleet.stop.time) left_by_ = *report.left_by;
  if (!report.broken_by) return;
  life_->fail({GV_E_LOST,
               fmt::format("peer {} is lost, and {} cannot go on without it",
                           *report.broken_by,
                           assembly_->algorithm->kind)});
}

}  // namespace gv::embed
