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

#include "gossip/verb.h"
#include "optim/train/program_replica.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program_fleet.h"
#include "peer/cli/embed/program_words.h"

namespace gv::embed {

/// The part of gv_info that changes while a peer lives.
struct ProgramState {
  Round round = 0;
  bool rejoined = false;
  std::optional<std::size_t> restored{};  ///< bytes of the program's state
  bool stopping = false;
  std::optional<PeerId> left_by{};  ///< see Report::left_by
  bool attached = false;
  std::uint16_t port = 0;
  std::size_t parameters = 0;
  std::string start{};    ///< digest of x_0
  std::string model{};    ///< digest of names and shapes
  std::string save_to{};  ///< a path; "": no file is to be written
};

/// The object that gv_info writes.
std::string info_text(const ProgramFleet& of, const OpenWords& words, const ProgramState& state);

/// The part that stands behind a gv_peer, whatever it was started for. Each function does what the
/// call of that name says (grapevine_program.h), and throws a Fault.
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
  /// Returns the port; 0: it listens nowhere.
  virtual std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) = 0;
  virtual void begin(const char* addresses) = 0;
  virtual Turn turn(const gv_told* done, int timeout_ms) = 0;
  virtual void point(int what, std::span<void* const> data) = 0;
  virtual void forget_gradients() = 0;
  virtual void give_state(std::span<const char> bytes) = 0;
  virtual void say(const SayWords& words) = 0;
  /// Returns false while it has not finished.
  virtual bool finish(int timeout_ms) = 0;
  /// Does a verb; by default as a program that is alone: what it gives is what all give.
  virtual int verb(const gv_call& call, std::span<std::byte> data, int timeout_ms);
  /// Begins to push; by default refuses: a program that is alone has no neighbours.
  virtual std::uint64_t push(const gv_call& call, std::vector<std::byte> data);
  virtual std::uint64_t pull(const gv_call& call, std::size_t bytes);
  virtual int wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms);
  virtual void end_turn() = 0;
  /// Returns what a forked child is to close; until go_on() nothing is at work.
  virtual std::vector<int> pause() = 0;
  virtual void go_on() = 0;

  /// Returns what was restored; empty: nothing.
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

/// Throws Fault (GV_E_USE) where it says what there is not.
VerbCall verb_call_of(const gv_call& call);
/// Does the same for gv_push or gv_pull, which `name` is.
VerbCall transfer_of(const gv_call& call, const char* name);
VerbCall push_of(const gv_call& call, std::vector<std::byte> data);
VerbCall pull_of(const gv_call& call, std::size_t bytes);

/// Makes the program that the task asks for.
std::unique_ptr<Program> make_program(OpenWords words);

/// Throws Fault (GV_E_USE) where what is told cannot be.
void check_told(const gv_told& told);

/// The things that a peer's method needs to be told by the end of a turn.
struct TurnChecks {
  const AlgorithmRow* method = nullptr;
  bool pointed = false;   ///< the gradients of the turn at hand
  bool has_rate = false;  ///< it was told once
  /// Checks the end of `turn`. Throws Fault (GV_E_USE): it was not told, and the turn goes on.
  void end(const gv_told& told, Turn turn);
};
Told told_of(const gv_told& said);

}  // namespace gv::embed
