#include "peer/fleet/keys/plain_keys.h"

namespace gv {
namespace {

constexpr PlainKey rows[] = {
    {"agent",
     "a map; `{}` for what is usual",
     "",
     "How an agent acts and learns, where the data are an environment: a deep Q-network with "
     "double targets.",
     "agent: {}\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.steps",
     "a whole number, {range}",
     "4",
     "Steps of each environment for one gradient.",
     "agent: { steps: 2 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.environments",
     "a whole number, {range}",
     "1",
     "Environments of each peer, side by side.",
     "agent: { environments: 4 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.discount",
     "a number, {range}",
     "0.99",
     "gamma: what a reward counts a step later.",
     "agent: { discount: 0.98 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.n_step",
     "a whole number, {range}",
     "10",
     "Rewards that are added up before the target network says what comes after them.",
     "agent: { n_step: 3 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.memory",
     "transitions, {range}",
     "20000",
     "Kept by each peer to learn from; then the oldest goes.",
     "agent: { memory: 50000 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.warm_up",
     "transitions, {range}",
     "1000",
     "Before the memory has so many, gradients are zero. At least a batch.",
     "agent: { warm_up: 500 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.refresh",
     "gradients, {range}",
     "250",
     "From one target network to the next.",
     "agent: { refresh: 500 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.priority",
     "a number, {range}",
     "0",
     "alpha: transitions are drawn in proportion to the alpha-th power of their last error; 0: "
     "all alike.",
     "agent: { priority: 0.6 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.correction",
     "a number, {range}",
     "0.4",
     "beta: how far importance weights make up for `priority`; 1: wholly.",
     "agent: { priority: 0.6, correction: 0.4 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore",
     "from, to and over; or base and power",
     "{ from: 1, to: 0.05, over: 5000 }",
     "With which probability any action is taken instead of the best one.",
     "agent: { explore: { from: 1, to: 0.01, over: 10000 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.from",
     "a number, {range}",
     "1",
     "At the first frame.",
     "agent: { explore: { from: 0.5 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.to",
     "a number, {range}",
     "0.05",
     "From frame `over` on.",
     "agent: { explore: { to: 0.01 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.over",
     "frames of a peer, {range}",
     "5000",
     "In how many it falls.",
     "agent: { explore: { over: 10000 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.base",
     "a number, {range}",
     "",
     "Peer i of n keeps base^(1 + power i / (n - 1)), as the actors of Ape-X do.",
     "agent: { explore: { base: 0.4 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.power",
     "a number, {range}",
     "7",
     "See `base`.",
     "agent: { explore: { base: 0.4, power: 7 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.actors",
     "a whole number, {range}",
     "0",
     "So many peers more act for those that learn (Ape-X), which then do not; 0: each learner acts "
     "itself.",
     "agent: { actors: 8 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.memories",
     "a whole number, {range}",
     "1",
     "With actors: peers that keep their transitions and hand out minibatches; no more than there "
     "are learners or actors.",
     "agent: { actors: 8, memories: 2 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.samples_per_insert",
     "a number, {range}",
     "16",
     "With actors: transitions that are learnt from for each one that is taken, whatever the "
     "speeds; "
     "0: no limit.",
     "agent: { actors: 8, samples_per_insert: 8 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.model_every",
     "frames, {range}",
     "100",
     "With actors: from one look of an actor at its learner's model to the next.",
     "agent: { actors: 8, model_every: 400 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.step_time",
     "a duration",
     "0 ms",
     "What a step of an environment takes in `simulate`, beside the arithmetic.",
     "agent: { step_time: 1 ms }\n"
     "data: { kind: environment, name: cartpole }"},
};

}  // namespace

std::span<const PlainKey> agent_keys() {
  return rows;
}

}  // namespace gv
