#include "peer/fleet/keys/plain_keys.h"

// What readers ask for is alone here: the library of programs (peer/cli/embed) has the readers, and
// no use for what the reference says of all other keys.

namespace gv {
namespace {

constexpr PlainKey rows[] = {
    {"launch.restart",
     "never or on-failure",
     "never",
     "Restart of a peer that dies, from its checkpoint or a neighbour's model.",
     "launch: { restart: on-failure }"},
    {"launch.binary",
     "push or installed",
     "push",
     "How the program gets to the other machines. push: it is copied. installed: it must be there "
     "already.",
     "launch: { binary: installed }"},
    {"launch.data",
     "there or push",
     "there",
     "How the data get to the other machines. there: they must be there already. push: they are "
     "sent with the fleet file, up to 256 MB.",
     "launch: { data: push }"},
    {"launch.with",
     "{launchers}",
     "auto",
     "Launcher that starts the peers: on this machine only (local), over ssh, {batch systems}, or "
     "the one that `hosts` and the environment call for (auto). `--launcher` overrides it.",
     "launch: { with: slurm }"},
    {"output.save",
     "last or best",
     "last",
     "Model to save. last: the model at the end. best: the model of the best evaluation, by the "
     "target's figure or else the loss of the mean model; needs `data.validation`.",
     "data: { kind: digits, validation: 10 % }\noutput: { save: best }"},
    {"security.mode",
     "auto, tls or plaintext",
     "auto",
     "Encryption and authentication of links. auto: links between machines are encrypted and both "
     "ends authenticate; links within a machine are not. tls: all links are. plaintext: no link "
     "is.",
     "security: { mode: tls }"},
    {"data.augment",
     "none, crop, flip or crop+flip",
     "none",
     "Pictures: random change of each training picture every time it is used.",
     "data: { kind: digits, augment: crop }"},
    {"data.partition.kind",
     "iid, dirichlet, dirichlet-equal, by-label, by-class or quantity",
     "iid",
     "Rule that divides the training samples. iid: at random. dirichlet: each class by Dirichlet "
     "shares of its own, so that classes and sizes differ. dirichlet-equal: a Dirichlet mix of "
     "classes per peer, of equal sizes. by-label: shards of samples sorted by class. by-class: a "
     "fixed number of classes per peer. quantity: given sizes. Except with fedavg each peer counts "
     "equally whatever its size, unless `train.peer_weights` or `topology.weights` says otherwise.",
     "data: { kind: digits, partition: { kind: iid } }"},
    {"train.peer_weights",
     "equal or samples",
     "equal",
     "Weight of each peer's gradients. equal: all alike. samples: by the number of its samples, so "
     "that the fleet minimizes the mean loss over all samples. CPU and SGD only.",
     "train: { peer_weights: samples }"},
    {"network.shape",
     "per-nic or per-link",
     "per-nic",
     "Scope of the bandwidth. per-nic: all that a peer sends shares it. per-link: each link has "
     "its own.",
     "network: { bandwidth: 1 Gbit, shape: per-link }"},
    {"network.local",
     "shared or tcp",
     "shared",
     "Transport between peers on one machine. shared: memory that both map. tcp: TCP.",
     "network: { local: tcp }"},
    {"train.optimizer.kind",
     "sgd, adam, adamw or muon",
     "sgd",
     "Kind of optimizer: SGD with momentum, Adam (Kingma & Ba 2015), AdamW with decoupled weight "
     "decay (Loshchilov & Hutter 2019), or Muon, which orthogonalizes the steps of hidden layers' "
     "matrices and uses AdamW for the rest (Jordan et al. 2024, Liu et al. 2025; CPU only).",
     "train: { optimizer: { kind: adam } }"},
    {"train.optimizer.schedule.kind",
     "constant, step, linear, cosine or lian",
     "constant",
     "Kind of schedule. constant: no change. step: multiplied by `factor` at regular steps. "
     "linear, cosine: falls to 0 between the end of the warm-up and the end of the run. lian: the "
     "constant rate of Lian et al. 2017, corollary 2. The last three need stop.rounds or "
     "stop.epochs.",
     "train: { optimizer: { schedule: { kind: cosine } } }"},
};

}  // namespace

std::span<const PlainKey> word_keys() {
  return rows;
}

}  // namespace gv
