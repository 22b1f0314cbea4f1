#include "peer/fleet/agent_methods.h"

// Gorila: Nair et al., "Massively parallel methods for deep reinforcement learning", 2015,
// arXiv:1507.04296: a parameter server that steps on gradients as they come, or Downpour's. Its
// bundled form, where each peer acts, learns and remembers.
// GALA: Assran, Romoff, Ballas, Pineau & Rabbat, "Gossip-based actor-learner architectures for deep
// reinforcement learning", NeurIPS 2019, arXiv:1906.04585: agents that average with neighbours.

namespace gv {
namespace {

constexpr AgentUse gorila{.name = "Gorila", .source = "arXiv:1507.04296"};
constexpr AgentUse gala{.name = "GALA", .source = "arXiv:1906.04585"};

struct NamedUse {
  std::string_view kind, order;
  AgentUse use;
};

constexpr NamedUse named_uses[] = {
    {"parameter-server", "async", gorila},
    {"downpour", "", gorila},
    {"fedavg", "", {.objection = "it counts passes over samples"}},
    {"hogwild", "", {.objection = "its threads draw the samples themselves"}},
};

}  // namespace

AgentUse agent_use(const AlgorithmRow& row) {
  for (const NamedUse& named : named_uses)
    if (named.kind == row.kind && named.order == row.order) return named.use;
  if (row.hands_samples) return {.objection = "it hands samples from peer to peer"};
  return row.mixes ? gala : AgentUse{};
}

}  // namespace gv
