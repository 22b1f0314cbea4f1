#pragma once

#include <string>

namespace gv::cli {

/// Returns the path of the running program.
std::string this_program();
/// Returns the program that runs peers: this one, or that of GRAPEVINE_PEER_BINARY.
std::string peer_program();

/// Returns "grapevine 0.1.0 (g++ 12.2.0, Release, sources 0123456789ab)": the version, the
/// compiler, and a hash of the sources, which distinguishes two builds of one version.
std::string version_text();

}  // namespace gv::cli
