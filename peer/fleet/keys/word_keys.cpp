#include "peer/fleet/keys/plain_keys.h"

// What readers ask for is alone here: the library of programs (peer/cli/embed) has the readers, and
// no use for what the reference says of all other keys.

namespace gv {
namespace {

constexpr PlainKey rows[] = {
    {"launch.restart",
     "never or on-failure",
     "never",
     "Whether a peer that dies is started again, from its checkpoint or a neighbour's model.",
     "launch: { restart: on-failure }"},
    {"launch.binary",
     "push or installed",
     "push",
     "Whether the program is copied to the other machines, or must be there.",
     "launch: { binary: installed }"},
    {"launch.data",
     "there or push",
     "there",
     "Whether the data lie on the other machines already, or are sent to them with the fleet file: "
     "256 MB at most.",
     "launch: { data: push }"},
    {"launch.with",
     "{launchers}",
     "auto",
     "How the peers come to their machines: on this one alone, over ssh, {batch systems}, or as "
     "the hosts and the surroundings ask for. `--launcher` says otherwise.",
     "launch: { with: slurm }"},
    {"output.save",
     "last or best",
     "last",
     "Which model is saved: of the end, or of the best evaluation, by the target's figure or else "
     "the loss of the mean model. best needs `data.validation`.",
     "data: { kind: digits, validation: 10 % }\noutput: { save: best }"},
    {"security.mode",
     "auto, tls or plaintext",
     "auto",
     "auto: links between machines are encrypted and both ends prove who they are, links within "
     "one are not. tls: all are. plaintext: none is.",
     "security: { mode: tls }"},
    {"data.augment",
     "none, crop, flip or crop+flip",
     "none",
     "Pictures: how each training picture is changed each time it is seen.",
     "data: { kind: digits, augment: crop }"},
    {"data.partition.kind",
     "iid, dirichlet, dirichlet-equal, by-label, by-class or quantity",
     "iid",
     "iid: at random. dirichlet: unlike classes and sizes, each class by shares of its own. "
     "dirichlet-equal: a mix of classes for each peer, equal sizes. by-label: shards of samples "
     "sorted by class. by-class: so many classes each. quantity: unlike sizes. Methods but fedavg "
     "count every peer alike, whatever its size.",
     "data: { kind: digits, partition: { kind: iid } }"},
    {"train.peer_weights",
     "equal or samples",
     "equal",
     "How much each peer's gradients count: alike, or by how many samples it has, so that the "
     "fleet learns the mean over all samples. On the CPU, with SGD.",
     "train: { peer_weights: samples }"},
    {"network.shape",
     "per-nic or per-link",
     "per-nic",
     "per-nic: all that a peer sends shares its bandwidth. per-link: each link has its own.",
     "network: { bandwidth: 1 Gbit, shape: per-link }"},
    {"network.local",
     "shared or tcp",
     "shared",
     "How peers of one machine exchange: through memory that both map, or over TCP.",
     "network: { local: tcp }"},
    {"train.optimizer.kind",
     "sgd, adam, adamw or muon",
     "sgd",
     "SGD with momentum, Adam (Kingma & Ba 2015), AdamW, whose decay is beside its step "
     "(Loshchilov & Hutter 2019), or Muon, which makes the steps of hidden layers' matrices "
     "orthogonal and takes AdamW's of the rest (Jordan et al. 2024, Liu et al. 2025; on the CPU).",
     "train: { optimizer: { kind: adam } }"},
    {"train.optimizer.schedule.kind",
     "constant, step, linear, cosine or lian",
     "constant",
     "linear, cosine: behind the warm-up the rate falls to 0 at the end of the run. lian: the rate "
     "of Lian et al. 2017, corollary 2. These three need stop.rounds or stop.epochs.",
     "train: { optimizer: { schedule: { kind: cosine } } }"},
};

}  // namespace

std::span<const PlainKey> word_keys() {
  return rows;
}

}  // namespace gv
