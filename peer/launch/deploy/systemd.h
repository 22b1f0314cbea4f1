#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// A fleet whose peers are services of their hosts.
struct SystemdFleet {
  std::string name;                          ///< is_object_name()
  std::string program;                       ///< on the hosts, is_unit_path()
  std::string user;                          ///< whom the peers run as, is_user_name()
  std::vector<std::string> arguments{};      ///< of `peer`, as copied_sets() says
  std::map<std::string, std::string> files;  ///< as copied_files() names them
  double wait_seconds = 600;                 ///< for the other peers
};

/// A file of a host.
struct SystemdFile {
  std::string host;
  std::string path;  ///< absolute, there
  std::string text;
  bool unit = false;
};

/// A unit for each peer, and the files that it reads: the fleet's, and the user that it runs as.
std::vector<SystemdFile> systemd_files(const Fleet& fleet, const SystemdFleet& units);

/// Says what is to be done with them. `folder`: where they were written; "": nowhere.
std::string systemd_advice(const Fleet& fleet,
                           const SystemdFleet& units,
                           const std::string& folder);

/// A word of ExecStart=, in quotes where it needs them (systemd.service(5), "Command lines").
std::string systemd_word(const std::string& text);
bool is_unit_path(const std::string& path);
bool is_user_name(const std::string& name);

}  // namespace gv
