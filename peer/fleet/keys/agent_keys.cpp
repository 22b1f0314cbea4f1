#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

constexpr PlainKey rows[] = {
    {"agent", "a map; `{}` for the defaults", "",
     "Acting and learning of agents if the data are an environment: a deep Q-network with double "
     "targets.",
     "agent: {}\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.steps", "a whole number, {range}", "4",
     "Number of steps in each environment per gradient.",
     "agent: { steps: 2 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.environments", "a whole number, {range}", "1",
     "Number of environments of each peer, run side by side.",
     "agent: { environments: 4 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.discount", "a number, {range}", "0.99",
     "Discount gamma: factor on a reward for each step that it lies in the future.",
     "agent: { discount: 0.98 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.n_step", "a whole number, {range}", "10",
     "Number of rewards added up before the target network's estimate of the rest.",
     "agent: { n_step: 3 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.memory", "transitions, {range}", "20000",
     "Replay memory size per peer; the oldest transition is dropped when full.",
     "agent: { memory: 50000 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.warm_up", "transitions, {range}", "1000",
     "Number of transitions in the memory before learning begins; at least a batch. Until then "
     "gradients are zero, or with actors the learners wait.",
     "agent: { warm_up: 500 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.refresh", "gradients, {range}", "250",
     "Gradient steps between updates of the target network.",
     "agent: { refresh: 500 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.priority", "a number, {range}", "0",
     "Exponent alpha of prioritized replay: transitions are drawn in proportion to their last "
     "error to the power alpha. 0: uniformly.",
     "agent: { priority: 0.6 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.correction", "a number, {range}", "0.4",
     "Exponent beta of the importance weights that correct for `priority`. 1: full correction.",
     "agent: { priority: 0.6, correction: 0.4 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore", "from, to and over; or base and power", "{ from: 1, to: 0.05, over: 5000 }",
     "Probability of a random action instead of the best one. It falls over time, or is constant "
     "and different for each peer.",
     "agent: { explore: { from: 1, to: 0.01, over: 10000 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.from", "a number, {range}", "1", "Probability at the first frame.",
     "agent: { explore: { from: 0.5 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.to", "a number, {range}", "0.05", "Probability from frame `over` on.",
     "agent: { explore: { to: 0.01 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.over", "frames of a peer, {range}", "5000",
     "Number of frames over which the probability falls linearly from `from` to `to`.",
     "agent: { explore: { over: 10000 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.base", "a number, {range}", "",
     "Base of a constant probability per peer: peer i of n explores with base^(1 + power i / (n - "
     "1)), like the actors of Ape-X.",
     "agent: { explore: { base: 0.4 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.explore.power", "a number, {range}", "7",
     "Exponent that spreads the probabilities; see `base`.",
     "agent: { explore: { base: 0.4, power: 7 } }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.actors", "a whole number, {range}", "0",
     "Number of additional peers that act for the learners (Ape-X), which then do not act. 0: each "
     "learner acts itself.",
     "agent: { actors: 8 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.memories", "a whole number, {range}", "1",
     "Number of peers that store the actors' transitions and serve minibatches. At most the number "
     "of learners, and of actors. Needs `actors`.",
     "agent: { actors: 8, memories: 2 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.samples_per_insert", "a number, {range}", "16",
     "Number of transitions learnt from per transition stored, whatever the speeds. 0: no limit. "
     "Needs `actors`.",
     "agent: { actors: 8, samples_per_insert: 8 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.model_every", "frames, {range}", "100",
     "Number of frames after which an actor fetches its learner's model again. Needs `actors`.",
     "agent: { actors: 8, model_every: 400 }\n"
     "data: { kind: environment, name: cartpole }"},
    {"agent.step_time", "a duration", "0 ms",
     "Time of one step of an environment in `simulate`, in addition to the arithmetic.",
     "agent: { step_time: 1 ms }\n"
     "data: { kind: environment, name: cartpole }"},
};

/// Keys that several kinds share, or that do not depend on the kind.
constexpr PlainKey common[] = {
    {"data", "a kind, or a map with `kind` and its keys", "digits",
     "Training data. `grapevine data FILE` shows them.", "data: digits"},
    {"data.samples", "samples, {range}", "",
     "Total number of training samples of a fleet with `program`, which reads them itself. "
     "Required for epochs.",
     "program: [python3, train.py]\ndata: { samples: 60000 }"},
    {"data.validation", "a fraction between 0 and 1, or percent", "none",
     "Part of the training samples that is held back from training, drawn by the seed; of a text "
     "its end. Targets, patience, tuning and the best model use it, and the test set is evaluated "
     "once, at the end.",
     "data: { kind: digits, validation: 10 % }"},
    {"data.augment"},
};

/// Keys listed after those of the kinds.
constexpr PlainKey divided[] = {
    {"data.servers", "a whole number, {range}", "none",
     "Number of additional processes that serve minibatches to the peers that train.",
     "data: { kind: digits, servers: 1 }"},
    {"data.partition", "a kind, or a map with `kind` and its keys", "iid",
     "Rule that divides the training samples among the peers.",
     "data: { kind: digits, partition: iid }"},
    {"data.partition.kind"},
    {"data.partition.alpha", "a number, {range}", "0.5",
     "dirichlet, dirichlet-equal: concentration of the Dirichlet distribution. Smaller values make "
     "the peers' classes differ more; 100 is nearly iid.",
     "data: { kind: digits, partition: { kind: dirichlet, alpha: 0.1 } }"},
    {"data.partition.min_samples", "samples, {range}", "1",
     "dirichlet: minimum number of samples per peer.",
     "data: { kind: digits, partition: { kind: dirichlet, min_samples: 64 } }"},
    {"data.partition.classes_per_peer", "a whole number, {range}", "2",
     "by-class: number of classes per peer. by-label: number of shards per peer; a shard may span "
     "classes, so that a peer may have a few classes more or fewer.",
     "data: { kind: digits, partition: { kind: by-class, classes_per_peer: 2 } }"},
    {"data.partition.sizes", "a list of numbers, {range}, one for each peer", "",
     "quantity: relative number of samples of each peer.",
     "data: { kind: digits, partition: { kind: quantity, sizes: [1, 1, 2, 4] } }"},
};

}  // namespace

std::span<const PlainKey> agent_keys() {
  return rows;
}

std::span<const PlainKey> common_data_keys() {
  return common;
}

std::span<const PlainKey> divided_data_keys() {
  return divided;
}

}  // namespace gv
