#include "peer/runtime/assembly/peer_share.h"

#include <algorithm>

#include "gossip/chain.h"
#include "gossip/servers/servers.h"
#include "gossip/steps/attack.h"
#include "gossip/supply.h"
#include "graph/schedule/schedule.h"
#include "optim/rl/q_agent.h"
#include "optim/train/muon.h"
#include "optim/train/predictor.h"
#include "optim/train/wrapped_objective.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/assembly/assembly_checks.h"

// One peer's share of the fleet: its part of the data and of the model, its neighbours, its work.

namespace gv {
namespace {

/// Multiplies the gradient by n m_i / m if peer i of n has m_i of all m samples: the mean of the
/// peers' gradients is then the mean over all samples, for every method that follows that mean.
std::unique_ptr<Objective> by_samples(const Assembly& of,
                                      PeerId i,
                                      std::unique_ptr<Objective> own) {
  if (!of.fleet.by_samples || i >= of.partition.size()) return own;
  const double share =
      static_cast<double>(of.partition[i].size()) / static_cast<double>(of.data.train->rows);
  const double factor = share * static_cast<double>(of.partition.size());
  return make_false(std::move(own), {.factor = static_cast<float>(factor)});
}

std::unique_ptr<Objective> clipped(const Fleet& fleet, std::unique_ptr<Objective> own) {
  const double norm = fleet.optimizer.clip_norm;
  return norm > 0 ? make_clipped(std::move(own), norm) : std::move(own);
}

/// Adds the work of Muon's step, which follows each gradient without being a part of the gradient.
std::unique_ptr<Objective> stepped(const Assembly& of, std::unique_ptr<Objective> own) {
  if (of.fleet.optimizer.kind != "muon" || !of.data.train) return own;
  return make_followed_by_muon(std::move(own), hidden_matrices(of.fleet.model, *of.data.train));
}

/// Maximum number of minibatches to skip for a restored peer; skipping takes the server's time.
constexpr std::uint64_t most_passed_over = 10'000'000;

}  // namespace

/// Returns peer i's part of the start values; none if they are drawn.
std::vector<float> Assembly::start_of(PeerId i) const {
  if (start.empty() || serves_samples(i)) return {};
  if (i < fleet.trainers() && !division) return start;
  std::vector<Range> ranges = division ? division->ranges(i) : std::vector<Range>{};
  if (ranges.empty())
    ranges.push_back(division ? division->range(chains.stage(i)) : shard(*setup, dimension, i));
  std::vector<float> own;
  for (const Range& range : ranges) {
    const auto first = start.begin() + static_cast<std::ptrdiff_t>(range.begin);
    own.insert(own.end(), first, first + static_cast<std::ptrdiff_t>(range.count));
  }
  return own;
}

bool Assembly::serves_samples(PeerId i) const {
  return i >= fleet.trainers() + fleet.servers;
}

bool Assembly::acts(PeerId i) const {
  return i >= fleet.size() - fleet.actors;
}

std::vector<PeerId> Assembly::links(PeerId i) const {
  std::vector<PeerId> all;
  const bool chained = fleet.parallel && i < fleet.trainers();
  const std::vector<PeerId> group = chained ? alike(i) : std::vector<PeerId>{};
  const auto rank = static_cast<PeerId>(std::ranges::find(group, i) - group.begin());
  if (algorithm->links != nullptr && !serves_samples(i))
    all = algorithm->links(*setup_for(i), chained ? rank : i);
  if (chained) {
    for (PeerId& other : all) other = group[other];
    for (const PeerId other : chain_links(placed(i))) all.push_back(other);
    std::ranges::sort(all);
  }
  const std::vector<PeerId> supply =
      fleet.actors > 0 ? experience_links(*setup, i) : supply_links(*setup, i);
  if (i < fleet.trainers() || serves_samples(i))
    all.insert(all.end(), supply.begin(), supply.end());
  return all;
}

std::function<Payload(PeerId, std::uint64_t)> Assembly::samples_of(PeerId i) const {
  if (!serves_samples(i) || fleet.actors > 0) return nullptr;
  const auto source =
      std::make_shared<SampleSource>([this](PeerId peer) { return objective(peer); },
                                     [this](PeerId peer) { return fleet.peers[peer].batch; });
  return [source](PeerId peer, std::uint64_t number) { return source->minibatch(peer, number); };
}

std::shared_ptr<ExperiencePart> Assembly::experience(PeerId i) const {
  if (i < judged_.size()) {
    const auto part = std::make_shared<ExperiencePart>();
    part->judged = judged_[i];
    return part;
  }
  if (acts(i)) return actor_part(fleet, *setup, i, start);
  return fleet.actors > 0 && serves_samples(i) ? memory_part(fleet, *setup, i) : nullptr;
}

Neighborhood Assembly::neighborhood(PeerId i) const {
  if (!algorithm->mixes || i >= fleet.trainers()) return {};
  if (schedule) return schedule_of_peers_->links(i);
  const PeerId model = chains.chain(i);
  return among_copies(w ? w->row(model) : rows_[model], chains, i);
}

Algorithm Assembly::work_of(PeerId i) const {
  if (acts(i)) return act;
  if (serves_samples(i)) return fleet.actors > 0 ? remember : serve_samples;
  if (i >= fleet.trainers()) return algorithm->serve;
  return forges_models(*setup, i) ? attack : algorithm->run;
}

/// All stages of a chain draw from the same share.
Share Assembly::share(PeerId i) const {
  const PeerId model = chains.chain(i);
  return {.train = data.train,
          .test = looked_at(),
          .rows = model < partition.size() ? partition[model] : std::vector<std::uint32_t>{},
          .rng = Rng(fleet.seed).derive("batches").derive(model),
          .augment = fleet.data.augment};
}

/// Returns the part of the fleet's model that peer i's x holds: servers hold their part if there
/// are any, stages of chains hold theirs.
Holding Assembly::holds(PeerId i) const {
  if (division && i < fleet.trainers())
    return {.begin = division->range(chains.stage(i)).begin,
            .ranges = division->ranges(i),
            .weight = 1,
            .model = chains.chain(i)};
  if (is_attacker(*setup, i) || serves_samples(i)) return {.begin = 0, .weight = 0};
  if (fleet.servers == 0) return {};
  if (i < fleet.trainers()) return {.begin = 0, .weight = 0};
  return {.begin = shard(*setup, dimension, i).begin, .weight = 1};
}

std::size_t Assembly::size_of(PeerId i) const {
  if (serves_samples(i)) return 1;
  if (division && i < fleet.trainers()) {
    const std::vector<Range> ranges = division->ranges(i);
    std::size_t size = ranges.empty() ? division->range(chains.stage(i)).count : 0;
    for (const Range& range : ranges) size += range.count;
    return size;
  }
  return i < fleet.trainers() ? dimension : shard(*setup, dimension, i).count;
}

double Assembly::models_held(double peers) const {
  if (!division) return peers;
  double held = 0;
  for (PeerId i = 0; i < chains.peers(); ++i) held += static_cast<double>(size_of(i));
  return peers * held / (chains.peers() * static_cast<double>(dimension));
}

std::unique_ptr<Objective> Assembly::objective(PeerId i) const {
  std::unique_ptr<Objective> honest = honest_objective(i);
  if (!is_attacker(*setup, i) || forges_models(*setup, i)) return honest;
  const double gradients = static_cast<double>(optimizer(i).schedule.total);
  return make_false(
      std::move(honest),
      attack_of(*setup).gradient(setup->attack.strength, static_cast<std::uint64_t>(gradients)));
}

std::unique_ptr<Objective> Assembly::honest_objective(PeerId i) const {
  if (trains_elsewhere_ && i < fleet.trainers())
    return make_start_objective(parameters, start, program_flops_);
  if (division && i < fleet.trainers()) return division->objective(i, share(i));
  if (serves_samples(i)) return make_slice(objective(0), {0, 1});  // it needs no model
  if (i >= fleet.trainers()) return make_slice(objective(0), shard(*setup, dimension, i));
  return whole_objective(i);
}

/// Makes the objective of a peer that holds a whole model.
std::unique_ptr<Objective> Assembly::whole_objective(PeerId i) const {
  return by_samples(*this, i, stepped(*this, clipped(fleet, plain_objective(i))));
}

/// Makes that objective with unchanged gradients.
std::unique_ptr<Objective> Assembly::plain_objective(PeerId i) const {
  if (data.train) return make_objective(fleet.model, share(i));
  if (fleet.agent)
    return make_agent(
        fleet.model, *fleet.agent,
        {.peer = i,
         .peers = fleet.trainers(),
         .rng = Rng(fleet.seed),
         .step_flops = fleet.agent->step_seconds * fleet.flops * fleet.peers.at(i).speed,
         .judged = i < judged_.size() ? judged_[i] : nullptr});
  return make_quadratic(fleet.data.quadratic, i, fleet.trainers(),
                        Rng(fleet.seed).derive("quadratic"), optimum_);
}

ReplicaParts Assembly::parts(PeerId i) const {
  return {.model = fleet.model,
          .share = share(i),
          .objective = [this, i] { return objective(i); },
          .optimizer = optimizer(i),
          .batch = fleet.peers.at(i).batch,
          .init = Rng(fleet.seed).derive("init"),
          .start = start_of(i),
          .precision = fleet.peers.at(i).precision};
}

std::unique_ptr<Replica> Assembly::replica(PeerId i) const {
  if (trains_elsewhere_ && i < fleet.trainers()) return nullptr;
  const std::string& word = fleet.peers.at(i).device;
  const bool stays = word == "auto" && !stays_on_the_cpu(*this, i).why.empty();
  return make_replica(stays ? Device{} : device_of(fleet, i), parts(i));
}

std::unique_ptr<Replica> Assembly::replica_on(const Device& device, std::uint32_t batch) const {
  ReplicaParts measured = parts(0);
  measured.batch = batch;
  return make_replica(device, measured);
}

std::unique_ptr<Replica> Assembly::host_replica(PeerId i) const {
  return make_replica(Device{}, parts(i));
}

Payload SampleSource::minibatch(PeerId peer, std::uint64_t number) {
  Stream& stream = streams_[peer];
  if (!stream.objective || number < stream.next) stream = {objective_(peer), 0};
  if (number - stream.next > most_passed_over) return nullptr;
  for (; stream.next < number; ++stream.next) stream.objective->draw(batch_(peer), 0);
  ++stream.next;
  return stream.objective->draw(batch_(peer), 1).front().samples;
}

}  // namespace gv
