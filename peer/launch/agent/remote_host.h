#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/world.h"
#include "peer/launch/agent/agent_frame.h"
#include "peer/launch/agent/facts.h"
#include "peer/launch/process.h"

namespace gv {

/// The command that starts an agent on a host, and what goes with it.
struct AgentStart {
  std::vector<std::string> argv;  ///< ssh and what it is to do there, or the program itself
  std::string nonce;
  /// The bytes that it asks for where it has no program for its kind of processor; "": we have none
  /// either.
  std::function<std::string(const std::string& processor)> program{};
};

/// The launcher's end of an agent: what is said is queued until the agent is there, and what comes
/// is kept until it is asked for. One that has failed stays failed.
class RemoteHost {
 public:
  /// Throws std::runtime_error when argv[0] cannot be started. `leash`: it is lost after such a
  /// silence; `most_vector_bytes`: of a report.
  RemoteHost(std::string name, AgentStart start, Time leash, std::size_t most_vector_bytes);

  const std::string& name() const { return name_; }
  const std::optional<HostFacts>& facts() const { return facts_; }  ///< nothing: not there yet
  const std::string& failure() const { return failure_; }           ///< "": it works
  /// The failure is that the machine is not one for this program, which it has said itself.
  bool unfit() const { return unfit_; }
  double seconds_to_facts() const { return seconds_to_facts_; }  ///< from the start of ssh
  /// Its clock was so many seconds ahead of ours when it said its facts, at least.
  double clock_ahead() const { return clock_ahead_; }
  void give_up(const std::string& why) { fail(why); }
  /// Hands out, once, what its shell printed before the agent spoke.
  std::string take_noise() { return std::exchange(noise_, {}); }

  void add_to(std::vector<pollfd>& fds) const;
  void work();  ///< reads what has come, sends what waits, and looks at the clock
  void send(const AgentFrame& frame);
  /// The oldest answer of this kind that was not taken: opened, called, looked, measured or
  /// fetched.
  std::optional<std::string> take_answer(AgentKind kind);
  /// Files that come from now on are written below this folder.
  void take_files(FileTaker files) { files_.emplace(std::move(files)); }

  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& args);
  /// The agent ends, and takes its folder away unless it is to keep it.
  void leave(bool keep);
  /// Returns whether it is still at that; sends what waits.
  bool leaving();
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  struct Peer {
    pid_t pid = 0;
    std::deque<std::string> output, errors;
    std::deque<Payload> vectors;
    std::string vector;  ///< the pieces that have come of the next one
    std::optional<std::string> ending;
  };
  class RemoteProcess;
  using Clock = std::chrono::steady_clock;

  void hear(const std::string& bytes);
  void hear_noise();
  void send_program(const std::string& processor);
  bool is_ahead() const;
  void hear_errors();
  void take(AgentFrame frame);
  void take_vector(Peer& peer, const std::string& piece);
  Peer* peer_of(PeerId id);
  void fail(const std::string& why);

  std::string name_;
  AgentStart start_;
  Time leash_;
  std::size_t most_vector_bytes_;
  Spawned process_;
  PipePair stream_;
  PipePair errors_;
  std::string error_text_;  ///< the end of what its stderr said
  std::string heard_text_;  ///< before the hello: an unfinished line
  std::string noise_;
  std::uint64_t received_bytes_ = 0;
  double seconds_to_facts_ = 0, clock_ahead_ = 0;
  Clock::time_point began_ = Clock::now();
  double clock_at_start_ = own_clock();
  bool greeted_ = false;
  bool left_ = false;
  AgentFrameReader reader_;
  std::string queue_;  ///< what waits for the hello
  std::optional<HostFacts> facts_;
  std::string failure_;
  bool unfit_ = false;
  std::map<PeerId, std::shared_ptr<Peer>> peers_;
  std::deque<std::pair<AgentKind, std::string>> answers_;
  std::optional<FileTaker> files_;
  Clock::time_point heard_ = Clock::now(), ping_at_ = Clock::now();
};

}  // namespace gv
