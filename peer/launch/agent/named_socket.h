#pragma once

#include <cstdint>
#include <string>

#include "peer/wire/lend/descriptor.h"

namespace gv {

// TCP sockets by the names or numbers of machines. They never block.

/// Listens. Throws std::runtime_error: the address is taken, or not one of this machine.
Descriptor listening_socket(const std::string& address, std::uint16_t port);
/// Returns the port at which a socket listens.
std::uint16_t port_of(int socket);
/// A connection that is on its way: writable when it is there. Throws std::runtime_error with the
/// resolver's or the system's words.
Descriptor connecting_socket(const std::string& address, std::uint16_t port);

}  // namespace gv
