#pragma once

#include <string>

namespace gv::cli {

/// The program that runs.
std::string this_program();
/// The program that runs peers: this one, or what GRAPEVINE_PEER_BINARY says.
std::string peer_program();

}  // namespace gv::cli
