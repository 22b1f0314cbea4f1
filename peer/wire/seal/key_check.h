#pragma once

#include <string>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// The state of those key files of a fleet that lie on this machine.
struct KeyCheck {
  std::vector<PeerId> good;     ///< peers whose file proves who they are; ascending
  std::vector<PeerId> missing;  ///< those without a file
  std::string fleet;            ///< whose keys the good ones are, 32 hex digits; "": there are none
  std::vector<std::string> findings;  ///< what is wrong, each with what to do
};

/// Reads FOLDER/peer-I.pem of peers 0 .. n - 1 as `grapevine peer` does. A file that is wrong is a
/// finding: a link, another user's, one that others may read, one that holds no keys, another
/// peer's or those of another fleet than the first good one's, or a certificate whose days are
/// over. One that is missing is none: each machine has those of its own peers.
KeyCheck check_key_files(const std::string& folder, PeerId n);

}  // namespace gv
