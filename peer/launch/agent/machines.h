#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/keys/batch_systems.h"
#include "peer/launch/agent/bundle.h"
#include "peer/launch/agent/host_folders.h"
#include "peer/launch/agent/remote_host.h"
#include "peer/launch/agent/ssh.h"
#include "peer/launch/program/program_words.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

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
