#pragma once

#include <string>

namespace gv::cli {

/// The program that runs.
std::string this_program();
/// The program that runs peers: this one, or what GRAPEVINE_PEER_BINARY says.
std::string peer_program();

/// Returns "grapevine 0.1.0 (g++ 12.2.0, Release, sources 0123456789ab)": the version, what
/// compiled it, and a hash of the sources, which tells two builds of one version apart.
std::string version_text();

}  // namespace gv::cli
