#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gossip/verbs/verb.h"
#include "optim/replica/program_replica.h"
#include "peer/cli/embed/calls/call_arguments.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program/program_fleet.h"

namespace gv::embed {

/// Part of gv_info that changes while a peer lives.
struct ProgramState {
  Round round = 0;
  bool rejoined = false;
  std::optional<std::size_t> restored{};  ///< size of the program's state, bytes
  bool stopping = false;
  std::optional<PeerId> left_by{};  ///< see Report::left_by
  bool attached = false;
  std::uint16_t port = 0;
  std::size_t parameters = 0;
  std::string start{};    ///< digest of x_0
  std::string model{};    ///< digest of names and shapes
  std::string save_to{};  ///< a path; "" if no file is to be written
};

/// Returns the object that gv_info writes.
std::string info_text(const ProgramFleet& of, const OpenWords& words, const ProgramState& state);

/// Implementation of a gv_peer, for any task. Each function implements the call of its name
/// (grapevine_program.h) and throws a Fault on errors.
class Program {
 public:
  explicit Program(OpenWords words);
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string info() const;
  std::vector<std::uint32_t> rows(std::span<const std::int32_t> labels, std::size_t n) const {
    return rows_of(fleet_, labels, n);
  }
  /// Returns the port, or 0 if it does not listen.
  virtual std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) = 0;
  virtual void begin(const char* addresses) = 0;
  virtual Turn turn(const gv_told* done, int timeout_ms) = 0;
  virtual void point(int what, std::span<void* const> data) = 0;
  virtual void forget_gradients() = 0;
  virtual void give_state(std::span<const char> bytes) = 0;
  virtual void say(const SayWords& words) = 0;
  /// Returns false if it has not finished yet.
  virtual bool finish(int timeout_ms) = 0;
  /// Does a verb; by default for a program that is alone: the result is its own data.
  virtual int verb(const gv_call& call, std::span<std::byte> data, int timeout_ms);
  /// Begins a push; refuses by default, because a program that is alone has no neighbours.
  virtual std::uint64_t push(const gv_call& call, std::vector<std::byte> data);
  virtual std::uint64_t pull(const gv_call& call, std::size_t bytes);
  virtual int wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms);
  virtual void end_turn() = 0;
  /// Returns the descriptors that a forked child must close; nothing works until go_on().
  virtual std::vector<int> pause() { return {}; }
  virtual void go_on() {}

  /// Returns the restored state, or "" if there is none.
  const std::string& restored() const { return restored_; }
  void take_restored() { restored_.clear(); }

 protected:
  void log(const std::string& line) const;

  const OpenWords words_;
  ProgramFleet fleet_;
  ProgramState state_;
  std::string restored_;
  std::atomic<Round> round_ = 0;
  std::atomic<std::int64_t> left_by_ = -1;  ///< Report::left_by; -1 if absent
  std::atomic<bool> stopping_ = false;
};

/// Converts a call of gv_verb. Throws Fault (GV_E_USE) if the verb or the type does not exist.
VerbCall verb_call_of(const gv_call& call);
/// Converts a call of gv_push or gv_pull, as `name` is.
VerbCall transfer_of(const gv_call& call, const char* name);
VerbCall push_of(const gv_call& call, std::vector<std::byte> data);
VerbCall pull_of(const gv_call& call, std::size_t bytes);

/// Makes the program for the task.
std::unique_ptr<Program> make_program(OpenWords words);

/// Throws Fault (GV_E_USE) if a report has impossible values.
void check_told(const gv_told& told);

/// Checks that a turn's report has everything that the peer's method needs.
struct TurnChecks {
  const AlgorithmRow* method = nullptr;
  bool pointed = false;   ///< gradients of the current turn were passed
  bool has_rate = false;  ///< the rate was reported once
  /// Checks the end of `turn`. Throws Fault (GV_E_USE) if something is missing: the turn continues.
  void end(const gv_told& told, Turn turn);
};
Told told_of(const gv_told& said);

}  // namespace gv::embed
