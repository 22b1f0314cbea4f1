#include "peer/fleet/keys/plain_keys.h"

namespace gv {
namespace {

/// Keys that are read of several kinds alike, or of none that a file names.
constexpr PlainKey common[] = {
    {"data",
     "a kind, or a map with `kind` and its keys",
     "digits",
     "What the fleet learns from. `grapevine data FILE` shows it.",
     "data: digits"},
    {"data.samples",
     "samples, {range}",
     "",
     "Of a fleet with `program`, which has them: how many there are in all. Epochs need it.",
     "program: [python3, train.py]\ndata: { samples: 60000 }"},
    {"data.validation",
     "a fraction between 0 and 1, or percent",
     "none",
     "The part of the training samples, drawn by the seed (of a text its end), that nobody trains "
     "on: targets, patience, tuning and the best model look at it, and the test set is looked at "
     "once, at the end.",
     "data: { kind: digits, validation: 10 % }"},
    {"data.augment"},
};

/// They stand behind the keys of the kinds.
constexpr PlainKey divided[] = {
    {"data.servers",
     "a whole number, {range}",
     "none",
     "So many processes more hand out minibatches to those that train.",
     "data: { kind: digits, servers: 1 }"},
    {"data.partition",
     "a kind, or a map with `kind` and its keys",
     "iid",
     "How the training samples are divided among the peers.",
     "data: { kind: digits, partition: iid }"},
    {"data.partition.kind"},
    {"data.partition.alpha",
     "a number, {range}",
     "0.5",
     "dirichlet, dirichlet-equal: the smaller, the more unlike are the peers' classes; 100 is "
     "nearly "
     "iid.",
     "data: { kind: digits, partition: { kind: dirichlet, alpha: 0.1 } }"},
    {"data.partition.min_samples",
     "samples, {range}",
     "1",
     "dirichlet: every peer gets at least so many.",
     "data: { kind: digits, partition: { kind: dirichlet, min_samples: 64 } }"},
    {"data.partition.classes_per_peer",
     "a whole number, {range}",
     "2",
     "by-class: how many classes each peer has. by-label: how many shards, of which one may span "
     "classes, so that a peer has a few more or less.",
     "data: { kind: digits, partition: { kind: by-class, classes_per_peer: 2 } }"},
    {"data.partition.sizes",
     "a list of numbers, {range}, one for each peer",
     "",
     "quantity: how much each gets beside the others.",
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
