#include "peer/runtime/assembly/assembly_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "gossip/servers/robust_rules.h"
#include "gossip/steps/attack.h"
#include "gpu/cuda_replica.h"
#include "optim/data/data_facts.h"
#include "optim/models/model.h"
#include "peer/fleet/fleet_setup.h"

namespace gv {
namespace {

/// Returns the kind of peer i's optimizer; its method may override the file's.
std::string kind_of_optimizer(const Assembly& of, PeerId i) {
  const OptimizerSpec& spec = of.fleet.optimizer;
  const auto own = of.algorithm->optimizer;
  return own == nullptr ? spec.kind : own(spec, *of.setup, i).kind;
}

/// Returns why peers cannot be weighted by their samples; "" if they can.
std::string why_not_by_samples(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  if (of.partition.empty()) return "a quadratic has no samples: leave it out";
  if (fleet.data.per_peer())
    return "no peer knows how many samples the others have in their files: leave it out";
  if (fleet.data_servers > 0 || of.algorithm->hands_samples)
    return "data servers send the samples, so no peer has its own number of samples: leave it out";
  return "";
}

/// Returns why training stays on the CPU because of the optimizer or the objective.
OnTheCpu trains_on_the_cpu(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  if (fleet.optimizer.clip_norm > 0)
    return {"train.optimizer.clip_norm",
            "gradients are shortened on the CPU only: take `device: cpu`"};
  if (fleet.optimizer.accumulate > 1)
    return {"train.optimizer.accumulate",
            "moments that take several gradients at once are kept on the CPU only: take `device: "
            "cpu`, or leave it out"};
  if (fleet.optimizer.kind == "muon")
    return {"train.optimizer", "muon steps on the CPU only: take `device: cpu`, or `kind: adamw`"};
  if (of.data.train && !class_weights(*of.data.train).empty())
    return {"train.class_weights", "classes are weighted on the CPU only: take `device: cpu`"};
  if (!cuda_trains(fleet.model))
    return {"model",
            fmt::format("model `{}` is trained on the CPU only: take `device: cpu` or `auto`",
                        fleet.model.kind)};
  return {};
}

}  // namespace

void refuse(const Fleet& fleet, const std::string& key, const std::string& message) {
  throw FleetError(
      fleet.path,
      {{.where = fleet.path + ": " + key, .message = message, .source = "", .help = ""}});
}

void check_peer_weights(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  const AlgorithmRow& row = *of.algorithm;
  if (!fleet.by_samples) return;
  const auto no = [&](const std::string& why) { refuse(fleet, "train.peer_weights", why); };
  if (row.kind == "fedavg")
    no(aggregate_of(*of.setup) == Aggregate::mean
           ? "fedavg weighs peers by their samples already: leave it out"
           : "this `aggregate` of fedavg counts all peers alike: leave it out");
  if (const std::string why = why_not_by_samples(of); !why.empty()) no(why);
  for (PeerId i = 0; i < fleet.trainers(); ++i)
    if (const std::string kind = kind_of_optimizer(of, i);
        kind.starts_with("adam") || kind == "muon")
      no("steps of Adam and Muon do not grow with their gradients: take `optimizer: { kind: sgd "
         "}`");
}

void check_shares(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  if (!of.setup->by_shares) return;
  const auto no = [&](const std::string& why) { refuse(fleet, "topology.weights", why); };
  constexpr const char* others = "take weights such as `metropolis`";
  if (const std::string why = why_not_by_samples(of); !why.empty())
    no(fmt::format("`shares`: {}", why));
  if (fleet.by_samples)
    no("`train.peer_weights: samples` weighs the gradients by samples already: take one of the "
       "two");
  if (fleet.parallel)
    no(fmt::format("`shares` are of peers that have whole models, and a stage has none: {}",
                   others));
  if (fleet.clip)
    no(
        fmt::format("`robust.clip` bounds flows that move both ends of an edge alike, and by "
                    "`shares` they do not: leave it out, or {}",
                    others));
}

void check_clip_norm(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  if (fleet.optimizer.clip_norm == 0) return;
  const auto no = [&](const std::string& why) { refuse(fleet, "train.optimizer.clip_norm", why); };
  if (of.algorithm->hands_samples)
    no("the minibatches of this method are computed in parts, which are as long as they are by "
       "chance: leave it out, or take `parameter-server`");
  if (fleet.parallel)
    no("a stage has a part of a gradient, so that no peer knows its norm: leave it out");
}

void check_muon(const Assembly& of) {
  const Fleet& fleet = of.fleet;
  if (fleet.optimizer.kind != "muon" || fleet.program) return;
  const auto no = [&](const std::string& why) { refuse(fleet, "train.optimizer", why); };
  if (!of.data.train || hidden_matrices(fleet.model, *of.data.train).empty())
    no(
        fmt::format("muon steps along the matrices between the first and the last layer of a "
                    "network that learns from samples, and model `{}` has none here: take `kind: "
                    "adamw`",
                    fleet.model.kind));
  if (fleet.servers > 0 || fleet.data_servers > 0)
    no("muon takes whole matrices, and a server has a part of a model, or none: take `kind: "
       "adamw`, "
       "or a method without servers");
  if (fleet.parallel)
    no("muon takes a model's matrices, and a stage has some of them: take `kind: adamw`");
}

OnTheCpu stays_on_the_cpu(const Assembly& of, PeerId i) {
  const Fleet& fleet = of.fleet;
  if (fleet.parallel) return {"parallel", "a stage of a model computes only on the CPU"};
  if (fleet.agent) return {"agent", "an agent acts and learns only on the CPU"};
  if (fleet.data_servers > 0 || of.algorithm->hands_samples)
    return {"train.device",
            "only the CPU trains on samples that come from other peers: take `device: cpu`"};
  if (fleet.by_samples)
    return {"train.peer_weights", "gradients are weighted on the CPU only: take `device: cpu`"};
  if (is_attacker(*of.setup, i) && !forges_models(*of.setup, i))
    return {"attackers",
            "false gradients are made on the CPU only: take `device: cpu` for the attackers, the "
            "last of the peers that train"};
  return fleet.program ? OnTheCpu{} : trains_on_the_cpu(of);
}

void check_peer_devices(const Assembly& of) {
  for (PeerId i = 0; i < of.fleet.trainers(); ++i) {
    if (!of.fleet.peers[i].device.starts_with("cuda")) continue;
    if (const OnTheCpu stays = stays_on_the_cpu(of, i); !stays.why.empty())
      refuse(of.fleet, stays.key, stays.why);
  }
}

/// Refuses training by peers other than the programs, and our training options if programs train.
void Assembly::check_program() const {
  if (!trains_elsewhere_ && fleet.program)
    refuse(fleet, "program",
           "its gradients are the program's: `grapevine run` starts it, and `grapevine plan` says "
           "how long it takes");
  if (!trains_elsewhere_) return;
  if (const std::string why = objection_to_program(*algorithm, *setup); !why.empty())
    refuse(fleet, "algorithm", why);
  if (fleet.optimizer.clip_norm > 0)
    refuse(fleet, "train.optimizer.clip_norm",
           "the gradients are the program's, which shortens them itself: leave it out");
}

/// Only existing links can be cut.
void Assembly::check_cuts() const {
  for (const Injection& injection : fleet.faults.inject) {
    if (injection.kind != Injection::Kind::cut) continue;
    if (std::ranges::binary_search(links_of(plan(injection.peer)), injection.other)) continue;
    refuse(fleet, "faults.inject",
           fmt::format("peers {} and {} are not linked: there is nothing to cut", injection.peer,
                       injection.other));
  }
}

void Assembly::check_samples() const {
  if (fleet.data_servers > fleet.trainers())
    refuse(fleet, "data.servers",
           fmt::format("{} servers for {} peers that train: take `servers: {}` at most",
                       fleet.data_servers, fleet.trainers(), fleet.trainers()));
}

/// Refuses options that depend on the number of other peers' samples, if a peer knows only its own.
void Assembly::check_own_tables() const {
  if (!fleet.data.per_peer()) return;
  constexpr const char* why = "no peer knows how many samples the others have in their files";
  if (fleet.class_weights.balanced)
    refuse(fleet, "train.class_weights", fmt::format("{}: name the weights", why));
  if (fleet.stop.epochs)
    refuse(fleet, "stop.epochs", fmt::format("{}: take `stop: {{ rounds: N }}`", why));
  if (fleet.evaluate_every_epochs)
    refuse(fleet, "evaluate.every", fmt::format("{}: write it in rounds, or as a time", why));
  if (algorithm->kind == "fedavg" && aggregate_of(*setup) == Aggregate::mean)
    refuse(fleet, "algorithm",
           fmt::format("fedavg weighs peers by their samples, and {}: take `local-sgd`, or another "
                       "`aggregate`, which counts all alike",
                       why));
}

void Assembly::check_flows() const {
  if (topology.directed && algorithm->undirected)
    refuse(
        fleet, "algorithm",
        fmt::format("after a cut {} counts a model's jump as a step; such steps cancel only on "
                    "edges that carry both ways, and this topology is directed: take an undirected "
                    "one, such as `ring`, or `d-psgd`",
                    fleet.algorithm));
  const Traffic traffic = this->traffic();
  if ((traffic.plain() && !traffic.robust) || !topology.directed) return;
  std::string what = fleet.codec ? "a codec" : fleet.algorithm;
  if (traffic.robust) what = "clipping";
  refuse(fleet, traffic.robust ? "robust.clip" : "algorithm",
         fmt::format("{} needs edges that carry messages both ways, and this topology is directed: "
                     "take an undirected one, such as `ring`",
                     what));
}

/// Refuses attackers unless models are averaged as they are: the attacks are defined for that.
void Assembly::check_attackers() const {
  if (fleet.attackers.count == 0 || attack_of(*setup).gradient != nullptr) return;
  const Traffic honest = traffic();
  const Stream& first = honest.streams[0];
  const bool models = honest.streams.size() == 1 && first.carries == "x" &&
                      (first.moves.empty() || !first.theirs.empty()) && !honest.codec &&
                      !honest.running;
  if (algorithm->mixes && algorithm->synchronous && algorithm->channels == nullptr && models &&
      !topology.directed)
    return;
  refuse(fleet, "attackers",
         fmt::format("{} attacks the averaging of models on undirected graphs: take "
                     "`clipped-gossip` or `d-psgd`, or a `kind` that is about gradients, such as "
                     "`gradient-scale`",
                     fleet.attackers.kind));
}

}  // namespace gv
