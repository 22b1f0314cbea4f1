#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

constexpr PlainKey rows[] = {
    {"agent", "a map; `{}` for the defaults", "",
     "Acting and learning of agents if the data are an environment: a deep Q-network with double "
     "targets.",
     "agent: {}"},
    {"agent.steps", Takes("a whole number, {range}", 1, 100'000), "4",
     "Number of steps in each environment per gradient.", "agent: { steps: 2 }"},
    {"agent.environments", Takes("a whole number, {range}", 1, 10'000), "1",
     "Number of environments of each peer, run side by side.", "agent: { environments: 4 }"},
    {"agent.discount", Takes("a number, {range}", 0, 1), "0.99",
     "Discount gamma: factor on a reward for each step that it lies in the future.",
     "agent: { discount: 0.98 }"},
    {"agent.n_step", Takes("a whole number, {range}", 1, 10'000), "10",
     "Number of rewards added up before the target network's estimate of the rest.",
     "agent: { n_step: 3 }"},
    {"agent.memory", Takes("transitions, {range}", 1, 10'000'000), "20000",
     "Replay memory size per peer; the oldest transition is dropped when full.",
     "agent: { memory: 50000 }"},
    {"agent.warm_up", Takes("transitions, {range}", 1, 10'000'000), "1000",
     "Number of transitions in the memory before learning begins; at least a batch. Until then "
     "gradients are zero, or with actors the learners wait.",
     "agent: { warm_up: 500 }"},
    {"agent.refresh", Takes("gradients, {range}", 1, 1e9), "250",
     "Gradient steps between updates of the target network.", "agent: { refresh: 500 }"},
    {"agent.priority", Takes("a number, {range}", 0, 10), "0",
     "Exponent alpha of prioritized replay: transitions are drawn in proportion to their last "
     "error to the power alpha. 0: uniformly.",
     "agent: { priority: 0.6 }"},
    {"agent.correction", Takes("a number, {range}", 0, 10), "0.4",
     "Exponent beta of the importance weights that correct for `priority`. 1: full correction.",
     "agent: { priority: 0.6, correction: 0.4 }"},
    {"agent.explore", "from, to and over; or base and power", "{ from: 1, to: 0.05, over: 5000 }",
     "Probability of a random action instead of the best one. It falls over time, or is constant "
     "and different for each peer.",
     "agent: { explore: { from: 1, to: 0.01, over: 10000 } }"},
    {"agent.explore.from", Takes("a number, {range}", 0, 1), "1", "Probability at the first frame.",
     "agent: { explore: { from: 0.5 } }"},
    {"agent.explore.to", Takes("a number, {range}", 0, 1), "0.05",
     "Probability from frame `over` on.", "agent: { explore: { to: 0.01 } }"},
    {"agent.explore.over", Takes("frames of a peer, {range}", 0, 1e12), "5000",
     "Number of frames over which the probability falls linearly from `from` to `to`.",
     "agent: { explore: { over: 10000 } }"},
    {"agent.explore.base", Takes("a number, {range}", 1e-9, 1), "",
     "Base of a constant probability per peer: peer i of n explores with base^(1 + power i / (n - "
     "1)), like the actors of Ape-X.",
     "agent: { explore: { base: 0.4 } }"},
    {"agent.explore.power", Takes("a number, {range}", 0, 1000), "7",
     "Exponent that spreads the probabilities; see `base`.",
     "agent: { explore: { base: 0.4, power: 7 } }"},
    {"agent.actors", Takes("a whole number, {range}", 0, 1000), "0",
     "Number of additional peers that act for the learners (Ape-X), which then do not act. 0: each "
     "learner acts itself.",
     "agent: { actors: 8 }"},
    {"agent.memories", Takes("a whole number, {range}", 1, 1000), "1",
     "Number of peers that store the actors' transitions and serve minibatches. At most the number "
     "of learners, and of actors. Needs `actors`.",
     "agent: { actors: 8, memories: 2 }"},
    {"agent.samples_per_insert", Takes("a number, {range}", 0, 1e6), "16",
     "Number of transitions learnt from per transition stored, whatever the speeds. 0: no limit. "
     "Needs `actors`.",
     "agent: { actors: 8, samples_per_insert: 8 }"},
    {"agent.model_every", Takes("frames, {range}", 1, 1e9), "100",
     "Number of frames after which an actor fetches its learner's model again. Needs `actors`.",
     "agent: { actors: 8, model_every: 400 }"},
    {"agent.step_time", "a duration", "0 ms",
     "Time of one step of an environment in `simulate`, in addition to the arithmetic.",
     "agent: { step_time: 1 ms }"},
};

/// Keys that several kinds share, or that do not depend on the kind.
constexpr PlainKey common[] = {
    {"data", "a kind, or a map with `kind` and its keys", "digits",
     "Training data. `grapevine data FILE` shows them.", "data: digits"},
    {"data.samples", Takes("samples, {range}", 1, 4'000'000'000), "",
     "Total number of training samples of a fleet with `program`, which reads them itself. "
     "Required for epochs.",
     "program: [python3, train.py]\ndata: { samples: 60000 }"},
    {"data.validation", "a fraction between 0 and 1, or percent", "none",
     "Part of the training samples that is held back from training, drawn by the seed; of a text "
     "its end. Targets, patience, tuning and the best model use it, and the test set is evaluated "
     "once, at the end.",
     "data: { kind: digits, validation: 10 % }"},
    {"data.augment", "none, crop, flip or crop+flip", "none",
     "Pictures: random change of each training picture every time it is used.",
     "data: { kind: digits, augment: crop }"},
};

/// Keys listed after those of the kinds.
constexpr PlainKey divided[] = {
    {"data.servers", Takes("a whole number, {range}", 1, 1000), "none",
     "Number of additional processes that serve minibatches to the peers that train.",
     "data: { kind: digits, servers: 1 }"},
    {"data.partition", "a kind, or a map with `kind` and its keys", "iid",
     "Rule that divides the training samples among the peers.",
     "data: { kind: digits, partition: iid }"},
    {"data.partition.kind", "iid, dirichlet, dirichlet-equal, by-label, by-class or quantity",
     "iid",
     "Rule that divides the training samples. iid: at random. dirichlet: each class by Dirichlet "
     "shares of its own, so that classes and sizes differ. dirichlet-equal: a Dirichlet mix of "
     "classes per peer, of equal sizes. by-label: shards of samples sorted by class. by-class: a "
     "fixed number of classes per peer. quantity: given sizes. Except with fedavg each peer counts "
     "equally whatever its size, unless `train.peer_weights` or `topology.weights` changes that.",
     "data: { kind: digits, partition: { kind: iid } }"},
    {"data.partition.alpha", Takes("a number, {range}", 1e-6, 1e9), "0.5",
     "dirichlet, dirichlet-equal: concentration of the Dirichlet distribution. Smaller values make "
     "the peers' classes differ more; 100 is nearly iid.",
     "data: { kind: digits, partition: { kind: dirichlet, alpha: 0.1 } }"},
    {"data.partition.min_samples", Takes("samples, {range}", 1, 1'000'000), "1",
     "dirichlet: minimum number of samples per peer.",
     "data: { kind: digits, partition: { kind: dirichlet, min_samples: 64 } }"},
    {"data.partition.classes_per_peer", Takes("a whole number, {range}", 1, 1000), "2",
     "by-class: number of classes per peer. by-label: number of shards per peer; a shard may span "
     "classes, so that a peer may have a few classes more or fewer.",
     "data: { kind: digits, partition: { kind: by-class, classes_per_peer: 2 } }"},
    {"data.partition.sizes", Takes("a list of numbers, {range}, one for each peer", 1e-9, 1e12), "",
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
