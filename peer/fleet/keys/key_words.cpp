#include "peer/fleet/keys/key_words.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/check.h"

namespace gv {
namespace {

/// Returns whether the text is one word of a fleet file, such as "on-failure" or "crop+flip".
bool is_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-+_").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, plain);
}

constexpr PlainKey rows[] = {
    {"launch.restart", "never or on-failure", "never",
     "Restart of a peer that dies, from its checkpoint or a neighbour's model.",
     "launch: { restart: on-failure }"},
    {"launch.binary", "push or installed", "push",
     "Way in which the program gets to the other machines. push: it is copied. installed: it must "
     "be there "
     "already.",
     "launch: { binary: installed }"},
    {"launch.data", "there or push", "there",
     "Way in which the data get to the other machines. there: they must be there already. push: "
     "they are "
     "sent with the fleet file, up to 256 MB.",
     "launch: { data: push }"},
    {"launch.with", "{launchers}", "auto",
     "Launcher that starts the peers: on this machine only (local), over ssh, {batch systems}, or "
     "the one that `hosts` and the environment call for (auto). `--launcher` overrides it.",
     "launch: { with: slurm }"},
    {"output.save", "last or best", "last",
     "Model to save. last: the model at the end. best: the model of the best evaluation, by the "
     "target's figure or else the loss of the mean model; needs `data.validation`.",
     "data: { kind: digits, validation: 10 % }\noutput: { save: best }"},
    {"security.mode", "auto, tls or plaintext", "auto",
     "Encryption and authentication of links. auto: links between machines are encrypted and both "
     "ends authenticate; links within a machine are not. tls: all links are. plaintext: no link "
     "is.",
     "security: { mode: tls }"},
    {"data.augment", "none, crop, flip or crop+flip", "none",
     "Pictures: random change of each training picture every time it is used.",
     "data: { kind: digits, augment: crop }"},
    {"data.partition.kind", "iid, dirichlet, dirichlet-equal, by-label, by-class or quantity",
     "iid",
     "Rule that divides the training samples. iid: at random. dirichlet: each class by Dirichlet "
     "shares of its own, so that classes and sizes differ. dirichlet-equal: a Dirichlet mix of "
     "classes per peer, of equal sizes. by-label: shards of samples sorted by class. by-class: a "
     "fixed number of classes per peer. quantity: given sizes. Except with fedavg each peer counts "
     "equally whatever its size, unless `train.peer_weights` or `topology.weights` changes that.",
     "data: { kind: digits, partition: { kind: iid } }"},
    {"train.peer_weights", "equal or samples", "equal",
     "Weight of each peer's gradients. equal: all alike. samples: by the number of its samples, so "
     "that the fleet minimizes the mean loss over all samples. CPU and SGD only.",
     "train: { peer_weights: samples }"},
    {"network.shape", "per-nic or per-link", "per-nic",
     "Scope of the bandwidth. per-nic: all that a peer sends shares it. per-link: each link has "
     "its own.",
     "network: { bandwidth: 1 Gbit, shape: per-link }"},
    {"network.local", "shared or tcp", "shared",
     "Transport between peers on one machine. shared: memory that both map. tcp: TCP.",
     "network: { local: tcp }"},
    {"train.optimizer.kind", "sgd, adam, adamw or muon", "sgd",
     "Kind of optimizer: SGD with momentum, Adam (Kingma & Ba 2015), AdamW with decoupled weight "
     "decay (Loshchilov & Hutter 2019), or Muon, which orthogonalizes the steps of hidden layers' "
     "matrices and uses AdamW for the rest (Jordan et al. 2024, Liu et al. 2025; CPU only).",
     "train: { optimizer: { kind: adam } }"},
    {"train.optimizer.schedule.kind", "constant, step, linear, cosine or lian", "constant",
     "Kind of schedule. constant: no change. step: multiplied by `factor` at regular steps. "
     "linear, cosine: falls to 0 between the end of the warm-up and the end of the run. lian: the "
     "constant rate of Lian et al. 2017, corollary 2. The last three need stop.rounds or "
     "stop.epochs.",
     "train: { optimizer: { schedule: { kind: cosine } } }"},
};

constexpr KeyRange ranges[] = {
    {"peers", 1, most_peers},
    {"peers.per_host", 1, most_peers},
    {"peers.count", 1, most_peers},
    {"peers.threads", 1, 1024},
    {"peers.batch", 1, 1'000'000},
    {"peers.speed", 1e-6, 1e6},
    {"parallel.stages", 1, 10'000},
    {"parallel.microbatches", 1, 1'000'000},
    {"parallel.ahead", 1, 1'000'000},
    {"parallel.copies", 1, most_peers},
    {"parallel.tensor", 1, 10'000},
    {"hosts.NAME.port", 1, 65535},
    {"stop.rounds", 1, 1e12},
    {"stop.epochs", 1e-6, 1e9},
    {"stop.target.for", 1, 1000},
    {"stop.patience", 1, 1'000'000},
    {"checkpoint.keep", 1, 1000},
    {"record.rows", 2, 1'000'000},
    {"robust.clip", 1e-9, 1e9},
    {"attackers.count", 0, most_peers},
    {"attackers.strength", 0, 1e30},
    {"data.samples", 1, 4'000'000'000},
    {"data.servers", 1, 1000},
    {"data.partition.alpha", 1e-6, 1e9},
    {"data.partition.min_samples", 1, 1'000'000},
    {"data.partition.classes_per_peer", 1, 1000},
    {"data.partition.sizes", 1e-9, 1e12},
    {"agent.steps", 1, 100'000},
    {"agent.environments", 1, 10'000},
    {"agent.discount", 0, 1},
    {"agent.n_step", 1, 10'000},
    {"agent.memory", 1, 10'000'000},
    {"agent.warm_up", 1, 10'000'000},
    {"agent.refresh", 1, 1e9},
    {"agent.priority", 0, 10},
    {"agent.correction", 0, 10},
    {"agent.explore.from", 0, 1},
    {"agent.explore.to", 0, 1},
    {"agent.explore.over", 0, 1e12},
    {"agent.explore.base", 1e-9, 1},
    {"agent.explore.power", 0, 1000},
    {"agent.actors", 0, 1000},
    {"agent.memories", 1, 1000},
    {"agent.samples_per_insert", 0, 1e6},
    {"agent.model_every", 1, 1e9},
    {"train.optimizer.lr", 0, 1e6},
    {"train.optimizer.weight_decay", 0, 1e6},
    {"train.optimizer.clip_norm", 0, 1e6},
    {"train.optimizer.momentum", 0, 0.999999},
    {"train.optimizer.beta1", 0, 0.999999},
    {"train.optimizer.beta2", 0, 0.999999999},
    {"train.optimizer.epsilon", 1e-30, 1},
    {"train.optimizer.accumulate", 1, 1'000'000},
    {"train.optimizer.schedule.factor", 0, 1},
    {"train.optimizer.schedule.lipschitz", 1e-12, 1e12},
    {"train.optimizer.schedule.sigma", 0, 1e12},
    {"train.optimizer.warmup", 0, 1e9},
    {"train.batch", 1, 1'000'000},
    {"train.batch.mean", 1, 1'000'000},
    {"train.local_steps", 1, most_local_steps},
    {"train.local_steps.mean", 1, most_local_steps},
    {"algorithm.codec.fraction", 1e-6, 1},
};

}  // namespace

const PlainKey& word_key(std::string_view key) {
  const std::span<const PlainKey> rows = word_keys();
  const auto row = std::ranges::find(rows, key, &PlainKey::key);
  if (row != rows.end()) return *row;
  throw std::logic_error(fmt::format("{} has no row among those that take words", key));
}

std::vector<std::string> key_words(std::string_view key) {
  std::string takes = with_launchers(word_key(key).takes);
  if (const std::size_t last = takes.rfind(" or "); last != std::string::npos)
    takes.replace(last, 4, ", ");
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= takes.size();) {
    const std::size_t end = std::min(takes.find(", ", from), takes.size());
    words.push_back(takes.substr(from, end - from));
    from = end + 2;
  }
  GV_CHECK(std::ranges::all_of(words, is_word), "the row of such a key is a list of words");
  return words;
}

// Only the rows that readers need are here: the library of programs (peer/cli/embed) contains the
// readers but not the reference of all other keys.

std::span<const PlainKey> word_keys() {
  return rows;
}

// Readers need only the ranges. The reference describes these keys, with "{range}" for the range.

const KeyRange& key_range(std::string_view key) {
  const auto* const row = std::ranges::find(ranges, key, &KeyRange::key);
  if (row != std::end(ranges)) return *row;
  throw std::logic_error(fmt::format("{} has no row among those that have a range", key));
}

}  // namespace gv
