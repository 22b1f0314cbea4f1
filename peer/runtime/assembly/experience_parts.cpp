#include <utility>

#include "gossip/supply.h"
#include "optim/models/model.h"
#include "optim/rl/acting.h"
#include "optim/rl/environments.h"
#include "optim/rl/served_memory.h"
#include "peer/runtime/assembly/peer_share.h"

namespace gv {
namespace {

/// Never null: the reader of the fleet file has checked the environment's name.
const EnvironmentRow& environment_of(const Fleet& fleet) {
  return *find_environment(fleet.agent->environment);
}

}  // namespace

std::shared_ptr<ExperiencePart> memory_part(const Fleet& fleet, const Setup& setup, PeerId memory) {
  const AgentSpec& agent = *fleet.agent;
  const TransitionForm form = form_of(environment_of(fleet));
  ServedMemorySpec spec{.memory = {.places = agent.memory,
                                   .numbers = form.numbers,
                                   .actions = form.actions,
                                   .binary = form.binary,
                                   .priority = agent.priority,
                                   .correction = agent.correction},
                        .form = form,
                        .most_rows = agent.most_transitions(),
                        .warm_up = agent.warm_up,
                        .samples_per_insert = agent.samples_per_insert};
  for (PeerId i = 0; i < fleet.trainers(); ++i)
    if (samples_server(setup, i) == memory) spec.batches[i] = fleet.peers[i].batch;
  const auto part = std::make_shared<ExperiencePart>();
  part->memory = std::make_shared<ServedMemory>(
      std::move(spec), Rng(fleet.seed).derive("agent").derive("memory").derive(memory));
  return part;
}

std::shared_ptr<ExperiencePart> actor_part(const Fleet& fleet,
                                           const Setup& setup,
                                           PeerId actor,
                                           std::vector<float> start) {
  const AgentSpec& agent = *fleet.agent;
  const EnvironmentRow& row = environment_of(fleet);
  const NeuralNetwork network = make_network(fleet.model, row.shape_of_data());
  if (start.empty()) {
    start.resize(network.size());
    network.initialize(start, Rng(fleet.seed).derive("init"));
  }
  const ActorPlace place{
      .actor = actor - actors(setup).front(),
      .actors = setup.actors,
      .rng = Rng(fleet.seed),
      .step_flops = agent.step_seconds * fleet.flops * fleet.peers.at(actor).speed};
  const auto part = std::make_shared<ExperiencePart>();
  part->actor = make_actor(agent, row, network, place, std::move(start));
  part->model_every = agent.model_every;
  return part;
}

}  // namespace gv
