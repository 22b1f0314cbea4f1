#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>

#include "peer/cli/embed/calls/call_arguments.h"
#include "peer/cli/embed/calls/program_tensors.h"
#include "peer/cli/embed/program/program.h"
#include "peer/cli/embed/program/program_life.h"
#include "peer/cli/embed/program/program_virtual_peer.h"
#include "peer/launch/launcher/peer_reports.h"
#include "peer/launch/process/launcher_line.h"
#include "peer/launch/process/watch_thread.h"

namespace gv::embed {

/// Descriptors of the launcher's line in a program, which leave its standard streams free.
inline constexpr LauncherLine::Descriptors launchers_descriptors{
    .ear = 4, .mouth = 5, .vectors = 3};

/// Closes the descriptors in programs that this process starts.
inline void keep_from_children(const LauncherLine::Descriptors& descriptors) {
  for (const int fd : {descriptors.ear, descriptors.mouth, descriptors.vectors})
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/// Log of what a program reports of its training, besides loss and accuracy: FOLDER/program.jsonl,
/// one line per call. From any thread.
class ProgramLog {
 public:
  explicit ProgramLog(const std::string& folder) : path_(folder + "/program.jsonl") {}
  /// Throws Fault (GV_E_FAILED) if the disk is full.
  void keep(Round round, const SayWords& words);

 private:
  std::mutex mutex_;
  std::string path_;
};

/// A peer whose replica is the program's.
class ProgramPeer : public Program {
 public:
  explicit ProgramPeer(OpenWords words);
  ~ProgramPeer() override;

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char* addresses) override;
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int what, std::span<void* const> data) override;
  void forget_gradients() override;
  void give_state(std::span<const char> bytes) override;
  void say(const SayWords& words) override;
  bool finish(int timeout_ms) override;
  int verb(const gv_call& call, std::span<std::byte> data, int timeout_ms) override;
  std::uint64_t push(const gv_call& call, std::vector<std::byte> data) override;
  std::uint64_t pull(const gv_call& call, std::size_t bytes) override;
  int wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) override;
  void end_turn() override;
  std::vector<int> pause() override;
  void go_on() override;

 private:
  void begin_verb(const VerbCall& call, std::span<std::byte> data);
  std::uint64_t begin_transfer(VerbCall call, bool pushes, bool lends);
  Waited wait_for(VerbAtHand& verb, bool lends, int timeout_ms);
  void tell_who_is_missing(const VerbAtHand& verb);
  void check_attached(const char* call) const;
  void take_start();
  void make_peer();
  TcpPeerOptions options();
  void stop_in_time(TcpPeerOptions& options);
  void handle_report(const Report& report);
  void keep_reports();
  void keep(const Report& report);
  ProgramLife::Addresses meet_launcher(TcpPeer& peer);
  ProgramLife::Addresses meet_in_folder() const;
  bool launcher_speaks() const;
  bool heed_launcher(const WatchThread& watch);
  std::vector<PeerAddress> addresses_of(const char* json) const;
  void end_turn_at_hand(const gv_told& told);
  Turn given(Turn turn);

  std::unique_ptr<const Assembly> assembly_;  ///< null if not attached
  ProgramTensors tensors_;
  ProgramTurns turns_;
  std::unique_ptr<TurnSource> source_;
  ProgramReplica* replica_ = nullptr;  ///< owned by the life
  std::unique_ptr<ProgramLog> kept_;
  std::unique_ptr<PeerReports> reports_;  ///< null if there is a launcher or no folder
  TurnChecks checks_;
  std::shared_ptr<VerbAtHand> verb_;  ///< null if none; ended by the loop
  TransfersAtHand transfers_;
  bool finishing_ = false;
  std::atomic<bool> closing_ = false;
  std::unique_ptr<LauncherLine> line_;  ///< null without a launcher
  std::unique_ptr<ProgramLife> life_;
  std::unique_ptr<WatchThread> launcher_;  ///< made by the life's thread
};

}  // namespace gv::embed
