#include "peer/launch/place.h"

#include <fmt/format.h>

#include "peer/launch/child.h"
#include "peer/wire/tcp/named_socket.h"

namespace gv {

std::unique_ptr<Process> ThisMachine::start(PeerId id, const std::vector<std::string>& past) {
  std::vector<std::string> argv{program_,
                                "peer",
                                fleet_,
                                "--id",
                                std::to_string(id),
                                "--launched",
                                fmt::format("{}/peers/{:03}", folder_, id)};
  for (const std::string& set : sets_) argv.insert(argv.end(), {"--set", set});
  argv.insert(argv.end(), more_.begin(), more_.end());
  argv.insert(argv.end(), past.begin(), past.end());
  return std::make_unique<Child>(argv);
}

PeerAddress ThisMachine::road(PeerId, PeerId other, std::uint16_t port) const {
  return {.peer = other, .host = loopback_host(), .port = port};
}

}  // namespace gv
