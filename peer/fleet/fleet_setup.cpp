#include "peer/fleet/fleet_setup.h"

#include <algorithm>

#include "gossip/algorithm.h"
#include "gossip/steps/attack.h"
#include "graph/mixing/share_weights.h"
#include "optim/rl/environments.h"
#include "optim/rl/served_memory.h"
#include "peer/fleet/data/data_kind.h"

namespace gv {

namespace {

Settings settings_of(const Fleet& fleet, const AlgorithmRow& row) {
  Settings settings = fleet.settings;
  for (const Option& option : row.options)
    settings.try_emplace(std::string(option.name), option.usual);
  return settings;
}

Attack attack_of(const AttackersSpec& attackers) {
  const std::vector<AttackRow> rows = attacks();
  const auto row = std::ranges::find(rows, attackers.kind, &AttackRow::kind);
  return {static_cast<std::size_t>(row - rows.begin()), attackers.strength};
}

/// Adds the sizes of messages between actors, memories and learners.
void add_transitions(Setup& setup, const Fleet& fleet) {
  const EnvironmentRow* const row = find_environment(fleet.agent->environment);
  const std::size_t one = row != nullptr ? form_of(*row).bytes() : 1;
  std::size_t batch = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i)
    batch = std::max<std::size_t>(batch, fleet.peers[i].batch);
  setup.most_samples_bytes = batch * one;
  setup.most_chunk_bytes = fleet.agent->most_transitions() * one;
  setup.most_judged_bytes = fleet.agent->priority > 0 ? batch * sizeof(float) : 0;
}

}  // namespace

Setup setup_of(const Fleet& fleet) {
  Setup setup{.peers = fleet.models(),
              .servers = fleet.servers,
              .data_servers = fleet.data_servers,
              .actors = fleet.actors,
              .attackers = fleet.attackers.count,
              .attack = attack_of(fleet.attackers),
              .seed = fleet.seed,
              .local_steps = fleet.local_steps,
              .own_steps = fleet.own_steps,
              .optimizer = fleet.optimizer,
              .settings = fleet.settings,
              .codec = fleet.codec,
              .clip = fleet.clip,
              .scheduled = fleet.schedule.has_value(),
              .push_sum = !fleet.schedule && fleet.weights == push_sum_weights,
              .by_shares = !fleet.schedule && fleet.weights == share_weights,
              .shares_descent = form_of(fleet.data) == DataForm::sparse};
  for (const PeerSpec& peer : fleet.peers) {
    const auto host = std::ranges::find(fleet.hosts, peer.host, &HostSpec::name);
    setup.hosts.push_back(static_cast<std::uint32_t>(host - fleet.hosts.begin()));
  }
  if (const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order))
    setup.settings = settings_of(fleet, *row);
  if (fleet.actors > 0) add_transitions(setup, fleet);
  return setup;
}

void add_servers(Fleet& fleet) {
  fleet.peers.resize(fleet.trainers());
  const bool acts = fleet.agent && fleet.agent->actors > 0;
  fleet.servers = 0;
  fleet.data_servers = acts ? fleet.agent->memories : fleet.data.servers;
  fleet.actors = acts ? fleet.agent->actors : 0;
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  if (row != nullptr && row->servers != nullptr)
    fleet.servers = row->servers(settings_of(fleet, *row));
  const std::vector<PeerSpec> learners = fleet.peers;
  PeerSpec server = learners.back();
  server.device = "cpu";
  server.batch = 1;
  fleet.peers.insert(fleet.peers.end(), fleet.servers + fleet.data_servers, server);
  for (PeerId a = 0; a < fleet.actors; ++a) {
    PeerSpec& actor = fleet.peers.emplace_back(learners[a % learners.size()]);
    actor.device = "cpu";
    actor.batch = 1;
  }
}

}  // namespace gv
