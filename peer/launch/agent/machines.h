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
#include "peer/runtime/assembly.h"

namespace gv {

/// The options with which a fleet on several machines is started.
struct LanOptions {
  std::string program;            ///< ours, which is pushed
  std::string file;               ///< of the fleet
  std::vector<std::string> sets;  ///< --set, as given
  std::function<void(const std::string&)> say;
  const BatchSystem* batch = nullptr;  ///< not null: the hosts are nodes of its job that we are in
  HostFolders
      folders{};  ///< where an earlier part of the run lies; hosts that are not here: nowhere
  bool those_alone = false;  ///< no other hosts are asked for anything
  /// The words of a fleet's program about itself on this machine, where it has one. The hosts' must
  /// say the same.
  std::optional<asked::Introduction> introduction{};
};

/// Returns whether a host of the file is another machine than this one.
bool is_elsewhere(const HostSpec& host);
/// Returns what ssh is given: the host's own `ssh`, or its name where it has none.
std::string ssh_target(const HostSpec& host);

/// A machine of a fleet.
struct Machine {
  HostSpec spec;
  std::vector<PeerId> peers;
  std::string nonce;                   ///< its agent is known by it
  std::string folder;                  ///< the name of the run's folder in the cache there
  bool keeps_files = false;            ///< what peers have left there is not all here
  std::unique_ptr<RemoteHost> host{};  ///< null: not started yet
  std::string ssh_name{};  ///< the host name or address that ssh, or a batch system, finds it at
  std::uint16_t door = 0;  ///< at which it answers calls; 0: none
};

/// The machines of a fleet in the order of their first peers, this one included, and an agent on
/// each.
class Machines {
 public:
  Machines(const Assembly& fleet, const LanOptions& options);
  /// The agents end, and take their folders away where nothing is kept there.
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  /// Starts the agents, all at once, and waits until each is there or has failed: what is wrong
  /// with one says nothing of the others.
  void start();
  /// Waits until each agent is there or has failed.
  void wait_for_agents();

  /// Sends the fleet's file, and what goes with it.
  void give_fleet(std::size_t k);
  /// Sends the file folder/name.
  void give_file(std::size_t k, const std::string& folder, const std::string& name);
  /// Returns "--set" and its value for each that is another there, for the peers' command.
  const std::vector<std::string>& sets(std::size_t k) const { return sets_.at(k); }
  /// Starts the program of its first peer that trains, alone, to be asked (program_words.h); null:
  /// none does, or the machine has failed.
  std::unique_ptr<Process> ask_program(std::size_t k);

  /// Starts another agent on a machine whose first has failed, with the same folder; what is said
  /// to it waits until it is there. The processes of the first one have ended with it.
  void start_again(std::size_t k);

  std::vector<Machine>& all() { return machines_; }
  const std::vector<Machine>& all() const { return machines_; }
  /// The machine of a peer; not those of hosts that are asked for nothing.
  std::size_t of(PeerId peer) const { return of_.at(peer); }
  const Machine& at(std::size_t k) const { return machines_.at(k); }

  /// Asks all that have not failed, and waits for their answers; "" of those that have, and of
  /// those that do not answer in this time, which fail by it.
  std::vector<std::string> ask(AgentKind question,
                               AgentKind answer,
                               const std::function<std::string(std::size_t)>& body,
                               Time patience = std::chrono::seconds(10));
  std::vector<std::string> names() const;
  /// Says what has failed and what to do, host by host; "": nothing.
  std::string failures() const;

  void add_to(std::vector<pollfd>& fds) const;
  void work();
  /// Works until it is done, or for so long; whether it is done.
  bool work_until(const std::function<bool()>& done, Time patience);

 private:
  AgentStart start_of(Machine& machine, const AgentWords& words);
  std::unique_ptr<RemoteHost> host_of(Machine& machine);

  const Assembly& fleet_;
  const LanOptions& options_;
  std::vector<Bundle> bundles_;  ///< of our program first, once a machine needs one
  std::vector<std::unique_ptr<RemoteHost>> former_;  ///< that have failed; processes refer to them
  std::vector<Machine> machines_;
  std::vector<std::size_t> of_;                   ///< of each peer
  std::vector<std::vector<std::string>> sets_{};  ///< of each machine
};

}  // namespace gv
