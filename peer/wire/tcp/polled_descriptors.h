#pragma once

#include <vector>

namespace gv {

/// The descriptors of this process that are waited for together with `socket`, it among them, and
/// those of epoll(7) that wait for them: what one loop of the network has open. Empty where the
/// system does not tell, or nobody waits for the socket.
std::vector<int> polled_with(int socket);

}  // namespace gv
