#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/launch/agent/machines.h"
#include "peer/launch/agent/peer_paths.h"
#include "peer/launch/process/process.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Returns whether peers of the fleet run on other machines.
bool is_lan(const Fleet& fleet);

/// Places of a run on the machines of a fleet.
class Lan : public Places {
 public:
  /// Starts an agent on each machine, finds an address for every edge and sends the fleet file.
  /// Throws std::runtime_error with everything that is wrong, host by host.
  Lan(const Assembly& fleet, LanOptions options);

  /// Starts a peer. On a host that was lost, first starts an agent again; when it answers, the peer
  /// is started and resumes from its folder there. Until then the process counts as running.
  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) override;
  PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const override;
  void add_to(std::vector<pollfd>& fds) const override { machines_.add_to(fds); }
  void work() override { machines_.work(); }
  std::vector<std::string> take_notes() override;

  /// Sends folder/name, the tensors that programs start from, to all hosts. Call it before the
  /// first start().
  void give_start(const std::string& folder, const std::string& name);
  /// Sends the files that the peers resume from to their hosts: checkpoints, and the records to
  /// which they append.
  void give_past(const RunFolder& folder);
  /// From now on, what peers write on the hosts stays there until it is fetched; the folders are
  /// written down for a program that resumes the run.
  void keep_files(const RunFolder& folder);
  /// See peer/launch/agent/fetch_files.h. Returns the hosts that sent nothing.
  std::vector<std::string> bring_home(const RunFolder& folder);
  /// Returns a line for each machine and each connection between two.
  std::string summary() const;

 private:
  void say_warnings() const;
  void check_data();
  void note_hosts(const RunFolder& folder) const;
  void note_return(RemoteHost& host, std::vector<std::string>& notes);

  const Assembly& fleet_;
  LanOptions options_;
  Machines machines_;
  PeerPaths paths_;
  std::pair<std::string, std::string> start_;  ///< folder and name of the programs' start file
  std::set<std::string> lost_;                 ///< hosts that were reported lost, and not yet back
};

}  // namespace gv
