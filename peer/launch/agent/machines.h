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
#include "peer/fleet/keys/batch_systems.h"
#include "peer/launch/agent/facts/facts.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/agent/transport/host_folders.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/process/process.h"
#include "peer/launch/program/program_words.h"
#include "peer/runtime/assembly/assembly.h"

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

/// Options with which a fleet on several machines is started.
struct LanOptions {
  std::string program;            ///< our program, which is pushed
  std::string file;               ///< path of the fleet file
  std::vector<std::string> sets;  ///< --set, as given
  std::function<void(const std::string&)> say;
  const BatchSystem* batch = nullptr;  ///< if not null, hosts are nodes of our job in it
  HostFolders folders{};               ///< folders of the run's earlier part, by host
  bool those_alone = false;            ///< only the hosts in `folders` are used
  /// Introduction of a fleet's program on this machine, if it has one. The program on the hosts
  /// must give the same.
  std::optional<asked::Introduction> introduction{};
};

/// Returns whether a host of the file is another machine than this one.
bool is_elsewhere(const HostSpec& host);
/// Returns the target for ssh: the host's own `ssh`, or its name if it has none.
std::string ssh_target(const HostSpec& host);

/// A machine of a fleet.
struct Machine {
  HostSpec spec;
  std::vector<PeerId> peers;
  std::string nonce;                   ///< identifies its agent
  std::string folder;                  ///< name of the run's folder in the cache there
  bool keeps_files = false;            ///< files of its peers there are not all fetched
  std::unique_ptr<RemoteHost> host{};  ///< null before the start
  std::string ssh_name{};  ///< name or address at which ssh, or a batch system, finds it
  std::uint16_t door = 0;  ///< port at which it answers calls; 0 if none
};

/// Machines of a fleet in the order of their first peers, this one included, with an agent on each.
class Machines {
 public:
  Machines(const Assembly& fleet, const LanOptions& options);
  /// Ends the agents, which delete their folders unless files are kept there.
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  /// Starts all agents at once and waits until each is there or has failed.
  void start();
  /// Waits until each agent is there or has failed.
  void wait_for_agents();

  /// Sends the fleet's file and the files that go with it.
  void give_fleet(std::size_t k);
  /// Sends the file folder/name.
  void give_file(std::size_t k, const std::string& folder, const std::string& name);
  /// Returns "--set" and its value for each key that differs there, for the peers' command.
  const std::vector<std::string>& sets(std::size_t k) const { return sets_.at(k); }
  /// Starts, with the task `ask` (program_words.h), the program of the machine's first peer that
  /// trains. Returns null if no peer trains there or the machine has failed.
  std::unique_ptr<Process> ask_program(std::size_t k);

  /// Starts another agent on a machine whose first one has failed, with the same folder; messages
  /// to it wait until it is there. The processes of the first one have ended with it. `waits`: see
  /// lobby_argv.
  void start_again(std::size_t k, bool waits);

  std::vector<Machine>& all() { return machines_; }
  const std::vector<Machine>& all() const { return machines_; }
  /// Returns the machine of a peer; not for peers on unused hosts.
  std::size_t of(PeerId peer) const { return of_.at(peer); }
  const Machine& at(std::size_t k) const { return machines_.at(k); }

  /// Asks all machines that have not failed, and waits for their answers. Returns "" for a machine
  /// that has failed or does not answer in time, which makes it fail.
  std::vector<std::string> ask(AgentKind question,
                               AgentKind answer,
                               const std::function<std::string(std::size_t)>& body,
                               Time patience = std::chrono::seconds(10));
  std::vector<std::string> names() const;
  /// Returns the failures and what to do, host by host, or "".
  std::string failures() const;

  void add_to(std::vector<pollfd>& fds) const;
  void work();
  /// Works until `done` is true or `patience` is over. Returns whether it is done.
  bool work_until(const std::function<bool()>& done, Time patience);

 private:
  AgentStart start_of(Machine& machine, const AgentWords& words, bool waits);
  std::unique_ptr<RemoteHost> host_of(Machine& machine, bool waits);

  const Assembly& fleet_;
  const LanOptions& options_;
  std::vector<Bundle> bundles_;  ///< our program's first, once a machine needs one
  std::vector<std::unique_ptr<RemoteHost>> former_;  ///< failed hosts that processes refer to
  std::vector<Machine> machines_;
  std::vector<std::size_t> of_;                   ///< machine of each peer
  std::vector<std::vector<std::string>> sets_{};  ///< sets of each machine
};

}  // namespace gv
