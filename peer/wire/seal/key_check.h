#pragma once

#include <string>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// State of a fleet's key files on this machine.
struct KeyCheck {
  std::vector<PeerId> good;           ///< peers with a valid file; ascending
  std::vector<PeerId> missing;        ///< peers without a file
  std::string fleet;                  ///< fleet of the good files, 32 hex digits; or ""
  std::vector<std::string> findings;  ///< errors, each with a remedy
};

/// Reads FOLDER/peer-I.pem of peers 0 .. n - 1 as `grapevine peer` does. These files are findings:
/// a link, another user's file, one that others may read, one without keys, keys of another peer,
/// keys of a fleet other than the first good file's, or an expired certificate. A missing file is
/// no finding, because each machine has only the files of its own peers.
KeyCheck check_key_files(const std::string& folder, PeerId n);

}  // namespace gv
