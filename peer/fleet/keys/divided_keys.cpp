#include "peer/fleet/keys/plain_keys.h"

namespace gv {
namespace {

/// Keys that are read of several kinds alike, or of none that a file names.
constexpr PlainKey common[] = {
    {"data",
     "a kind, or a map with `kind` and its keys",
     "digits",
     "Training data. `grapevine data FILE` shows them.",
     "data: digits"},
    {"data.samples",
     "samples, {range}",
     "",
     "Total number of training samples of a fleet with `program`, which reads them itself. "
     "Required for epochs.",
     "program: [python3, train.py]\ndata: { samples: 60000 }"},
    {"data.validation",
     "a fraction between 0 and 1, or percent",
     "none",
     "Part of the training samples that is held back from training, drawn by the seed; of a text "
     "its end. Targets, patience, tuning and the best model use it, and the test set is evaluated "
     "once, at the end.",
     "data: { kind: digits, validation: 10 % }"},
    {"data.augment"},
};

/// They stand behind the keys of the kinds.
constexpr PlainKey divided[] = {
    {"data.servers",
     "a whole number, {range}",
     "none",
     "Number of additional processes that serve minibatches to the peers that train.",
     "data: { kind: digits, servers: 1 }"},
    {"data.partition",
     "a kind, or a map with `kind` and its keys",
     "iid",
     "Rule that divides the training samples among the peers.",
     "data: { kind: digits, partition: iid }"},
    {"data.partition.kind"},
    {"data.partition.alpha",
     "a number, {range}",
     "0.5",
     "dirichlet, dirichlet-equal: concentration of the Dirichlet distribution. Smaller values make "
     "the peers' classes differ more; 100 is nearly iid.",
     "data: { kind: digits, partition: { kind: dirichlet, alpha: 0.1 } }"},
    {"data.partition.min_samples",
     "samples, {range}",
     "1",
     "dirichlet: minimum number of samples per peer.",
     "data: { kind: digits, partition: { kind: dirichlet, min_samples: 64 } }"},
    {"data.partition.classes_per_peer",
     "a whole number, {range}",
     "2",
     "by-class: number of classes per peer. by-label: number of shards per peer; a shard may span "
     "classes, so that a peer may have a few classes more or fewer.",
     "data: { kind: digits, partition: { kind: by-class, classes_per_peer: 2 } }"},
    {"data.partition.sizes",
     "a list of numbers, {range}, one for each peer",
     "",
     "quantity: relative number of samples of each peer.",
     "data: { kind: digits, partition: { kind: quantity, sizes: [1, 1, 2, 4] } }"},
};

}  // namespace

std::span<const PlainKey> common_data_keys() {
  return common;
}

std::span<const PlainKey> divided_data_keys() {
  return divided;
}

}  // namespace gv
