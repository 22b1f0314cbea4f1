#pragma once

#include <string>

namespace gv::cli {

/// The program that runs peers: this one, or what GRAPEVINE_PEER_BINARY says.
std::string this_program();

}  // namespace gv::cli
