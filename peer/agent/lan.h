#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "peer/agent/remote_host.h"
#include "peer/launch/place.h"
#include "peer/launch/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// What a fleet on several machines is started with.
struct LanOptions {
  std::string program;            ///< ours, which is pushed
  std::string file;               ///< of the fleet
  std::vector<std::string> sets;  ///< --set, as given
  std::function<void(const std::string&)> say;
};

/// Whether a host of the file is another machine than this one.
bool is_elsewhere(const HostSpec& host);
/// Whether peers of the fleet live on other machines.
bool is_lan(const Fleet& fleet);

/// The machines of a fleet, an agent on each, this one included.
class Lan : public Places {
 public:
  /// Starts the agents, all at once, and finds a road for every edge. Throws std::runtime_error
  /// with everything that is wrong, host by host.
  Lan(const Assembly& fleet, LanOptions options);
  ~Lan() override;

  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) override;
  PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const override;
  void add_to(std::vector<pollfd>& fds) const override;
  void work() override;
  std::vector<std::string> take_notes() override;

  /// Sends the peers' checkpoints of an earlier run to where they live.
  void give_checkpoints(const RunFolder& folder);
  /// Fetches what the peers have left (checkpoints, ledgers, records) into the run's folder here;
  /// what could not be had is said.
  void bring_home(const RunFolder& folder);
  /// A line for each machine and each road between two.
  std::string summary() const;

 private:
  struct Machine {
    HostSpec spec;
    std::unique_ptr<RemoteHost> host;
    std::vector<PeerId> peers;
    std::uint16_t door = 0;
    std::string nonce;
    bool lost = false;  ///< and that was said
  };
  using Pair = std::pair<std::size_t, std::size_t>;  ///< who calls, whom

  void start_agents();
  void await_agents();
  void send_fleet(Machine& machine);
  void find_roads();
  void open_doors();
  void call_all(const std::vector<Pair>& pairs);
  void check_roads(const std::vector<Pair>& pairs) const;
  std::vector<Pair> neighbouring_machines() const;
  std::vector<std::string> candidates(const Machine& caller, const Machine& called) const;
  std::vector<std::string> ask(AgentKind question,
                               AgentKind answer,
                               const std::function<std::string(std::size_t)>& body);
  bool work_until(const std::function<bool()>& done, Time patience);
  void throw_failures() const;
  std::size_t machine_of(PeerId id) const { return machine_of_.at(id); }

  const Assembly& fleet_;
  LanOptions options_;
  std::vector<Machine> machines_;
  std::vector<std::size_t> machine_of_;    ///< of each peer
  std::map<Pair, std::string> roads_;      ///< the address at which it answered
  std::map<Pair, std::string> dead_ends_;  ///< why there is none
};

}  // namespace gv
