#include "peer/fleet/setup.h"

#include <algorithm>

#include "gossip/registry.h"

namespace gv {

Setup setup_of(const Fleet& fleet) {
  Setup setup{.peers = fleet.size(),
              .local_steps = fleet.local_steps,
              .optimizer = fleet.optimizer,
              .settings = fleet.settings,
              .scheduled = fleet.schedule.has_value()};
  for (const PeerSpec& peer : fleet.peers) {
    const auto host = std::ranges::find(fleet.hosts, peer.host, &HostSpec::name);
    setup.hosts.push_back(static_cast<std::uint32_t>(host - fleet.hosts.begin()));
  }
  if (const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order))
    for (const Option& option : row->options)
      setup.settings.try_emplace(std::string(option.name), option.usual);
  return setup;
}

}  // namespace gv
