#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/seam/world.h"
#include "peer/launch/agent/agent_frame.h"
#include "peer/launch/agent/facts.h"
#include "peer/launch/process.h"

namespace gv {

/// Command that starts an agent on a host, and what the command needs.
struct AgentStart {
  std::vector<std::string> argv;  ///< ssh and its remote script, or the program itself
  std::string nonce;
  /// Returns the bytes of the program for a kind of processor, which the remote shell asks for if
  /// it has none, or "" if we have none either.
  std::function<std::string(const std::string& processor)> program{};
};

/// Launcher's end of an agent. Messages to the agent are queued until it is there, and its answers
/// are kept until they are taken. A failed agent stays failed.
class RemoteHost {
 public:
  /// Throws std::runtime_error if argv[0] cannot be started. `leash`: silence after which the agent
  /// is lost; `most_vector_bytes`: maximum vector of a report.
  RemoteHost(std::string name, AgentStart start, Time leash, std::size_t most_vector_bytes);

  const std::string& name() const { return name_; }
  const std::optional<HostFacts>& facts() const { return facts_; }  ///< nothing before it is there
  const std::string& failure() const { return failure_; }           ///< "" if it works
  /// Returns whether the machine has reported that it cannot run this program.
  bool unfit() const { return unfit_; }
  double seconds_to_facts() const { return seconds_to_facts_; }  ///< from the start of ssh
  /// Returns the minimum, in seconds, by which its clock was ahead of ours when it sent its facts.
  double clock_ahead() const { return clock_ahead_; }
  void give_up(const std::string& why) { fail(why); }
  /// Returns, once, what its shell printed before the agent's hello.
  std::string take_noise() { return std::exchange(noise_, {}); }

  void add_to(std::vector<pollfd>& fds) const;
  void work();  ///< reads, sends what waits, and checks the times
  void send(const AgentFrame& frame);
  /// Returns the oldest answer of this kind that was not taken: opened, called, looked, measured or
  /// fetched.
  std::optional<std::string> take_answer(AgentKind kind);
  /// Writes files that come from now on below this folder.
  void take_files(FileTaker files) { files_.emplace(std::move(files)); }

  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& args);
  /// Ends the agent, which deletes its folder unless it is to keep it.
  void leave(bool keep);
  /// Returns whether the agent is still ending; sends what waits.
  bool leaving();
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  struct Peer {
    pid_t pid = 0;
    std::deque<std::string> output, errors;
    std::deque<Payload> vectors;
    std::string vector;  ///< pieces of the next vector
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
  std::string error_text_;  ///< last part of its stderr
  std::string heard_text_;  ///< unfinished line before the hello
  std::string noise_;
  std::uint64_t received_bytes_ = 0;
  double seconds_to_facts_ = 0, clock_ahead_ = 0;
  Clock::time_point began_ = Clock::now();
  double clock_at_start_ = own_clock();
  bool greeted_ = false;
  bool left_ = false;
  AgentFrameReader reader_;
  std::string queue_;  ///< bytes to send after the hello
  std::optional<HostFacts> facts_;
  std::string failure_;
  bool unfit_ = false;
  std::map<PeerId, std::shared_ptr<Peer>> peers_;
  std::deque<std::pair<AgentKind, std::string>> answers_;
  std::optional<FileTaker> files_;
  LeashSilence silence_;
  Clock::time_point ping_at_ = Clock::now();
};

}  // namespace gv
