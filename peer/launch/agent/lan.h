#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/launch/agent/machines.h"
#include "peer/launch/agent/roads.h"
#include "peer/launch/process.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Returns whether peers of the fleet live on other machines.
bool is_lan(const Fleet& fleet);

/// The machines of a fleet as a run's places.
class Lan : public Places {
 public:
  /// Starts an agent on each, finds a road for every edge and sends the fleet file. Throws
  /// std::runtime_error with everything that is wrong, host by host.
  Lan(const Assembly& fleet, LanOptions options);

  /// Starts an agent again on a host that was lost: when it answers, the peer is started, and goes
  /// on from what the first one's folder holds. Until then the process counts as running.
  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) override;
  PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const override;
  void add_to(std::vector<pollfd>& fds) const override { machines_.add_to(fds); }
  void work() override { machines_.work(); }
  std::vector<std::string> take_notes() override;

  /// Sends what programs begin with, folder/name, to all hosts; before the first start.
  void give_start(const std::string& folder, const std::string& name);
  /// Sends what the peers of an earlier part of the run go on from to where they live: checkpoints,
  /// and the records behind which they write.
  void give_past(const RunFolder& folder);
  /// Lets what peers write on the hosts stay there, from now on, until it was fetched; where that
  /// is, is written down for whoever goes on with the run.
  void keep_files(const RunFolder& folder);
  /// See peer/launch/agent/homecoming.h. Returns the hosts of which nothing came.
  std::vector<std::string> bring_home(const RunFolder& folder);
  /// A line for each machine and each road between two.
  std::string summary() const;

 private:
  void say_warnings() const;
  void check_data();
  void note_hosts(const RunFolder& folder) const;
  void note_return(RemoteHost& host, std::vector<std::string>& notes);

  const Assembly& fleet_;
  LanOptions options_;
  Machines machines_;
  Roads roads_;
  std::pair<std::string, std::string> start_;  ///< folder and name of what programs begin with
  std::set<std::string> lost_;  ///< hosts of which that was said, and not that they are back
};

}  // namespace gv
