#include "peer/runtime/peer_plan.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "gossip/algorithm.h"
#include "gossip/chain.h"
#include "gossip/mail/post_waits.h"
#include "gossip/peer.h"
#include "gossip/seam/stage.h"
#include "gossip/steps/attack.h"
#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/check.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/wire/frame/frame.h"

// The plan of one peer, and the times it waits for others.

namespace gv {
namespace {

/// Maximum time without progress of a living neighbour. Its round may wait for each of its own
/// neighbours until the deadline, or for samples and collectives until theirs, and its clock may be
/// slow. Without a deadline (0), a fleet waits for a living neighbour forever.
Time standstill(const Assembly& assembly, const Plan& plan) {
  constexpr Time least = std::chrono::seconds(10);
  if (plan.deadline == Time{0}) return Time{0};
  const auto& neighbors = assembly.topology.neighbors;  // by training peer
  const PeerId model = assembly.chains.chain(plan.id);
  std::size_t waits = 10;
  if (model < neighbors.size())
    for (const PeerId j : neighbors[model]) waits = std::max(waits, neighbors[j].size());
  const bool averages_only = plan.links.empty() || plan.stage;
  const Time each = averages_only ? plan.deadline : collective_deadline(plan);
  const Time standstill = std::max(least, static_cast<std::int64_t>(waits) * each);
  // A stage may also wait for its chain, at most until the chain's deadline, or until the wait of
  // the stage before it has ended.
  if (!plan.stage) return standstill;
  return standstill + longest_waits(plan, Absence::gone) + collective_deadline(plan);
}

/// Returns a patience that ends before the launcher's.
Time patience(const Fleet& fleet) {
  return std::min(fleet.faults.patience(), fleet.grace * 3 / 4);
}

/// All peers wait for a server's successor, which reads its data first.
Time succession(const Fleet& fleet, const AlgorithmRow& row) {
  using std::chrono::seconds;
  if (!fleet.restart) return Time{0};
  return row.succeeds ? std::max(Time{seconds(30)}, fleet.faults.deadline) : Time{seconds(3)};
}

/// Returns whether peers that were separated continue in a common round. False if a collective
/// keeps all peers together, and for methods with channels of their own and no rounds.
bool catches_up(const Assembly& fleet) {
  const AlgorithmRow& row = *fleet.algorithm;
  if (!row.mixes) return false;
  switch (row.promise) {
    case Promise::push_sum:
      return true;
    case Promise::nothing:
      return row.synchronous;
    case Promise::mean:
    case Promise::tracking:
      return row.channels == nullptr;
    case Promise::agreement:
    case Promise::once:
      return false;
  }
  return false;
}

/// Returns whether peers average by messages and no peer waits for another (ad-psgd): a pair that
/// was open with a dead process counts at neither end, and neighbours may ask its successor.
bool averages_pairs(const AlgorithmRow& row) {
  return row.mixes && row.promise == Promise::mean && !row.synchronous;
}

/// Returns whether a peer without any neighbour alive would finish its rounds long before the
/// others, because it waits for no peer.
bool runs_ahead_alone(const Assembly& fleet) {
  return catches_up(fleet) || (fleet.algorithm->mixes && fleet.algorithm->promise == Promise::mean);
}

/// Returns whether a peer ends with the fleet. False if it may end before its neighbours' last
/// rounds in an undisturbed fleet: on a graph that changes by round, whose last rows may leave it
/// out, and with pushes, which count in later rounds.
bool ends_with_others(const Assembly& fleet) {
  return runs_ahead_alone(fleet) && !fleet.schedule &&
         fleet.algorithm->promise != Promise::push_sum;
}

std::uint32_t bit(Kind kind) {
  GV_CHECK(static_cast<unsigned>(kind) < 32, "FrameBounds::kinds has 32 bits");
  return 1U << static_cast<unsigned>(kind);
}

/// Number of models that may be sent to an honest neighbour before it acknowledges the first. Two
/// if each exchange waits for the other half, and a neighbour that has lost its model gets one in
/// the meantime. With one-way links, collective operations or channels of the method's own, a peer
/// may be ahead by as many rounds as there are peers.
std::uint64_t most_models(const Plan& plan) {
  const bool directed = plan.schedule && plan.schedule->directed();
  const bool two_way = plan.neighborhood.peers == plan.neighborhood.receivers && !directed;
  return two_way && plan.links.empty() && plan.channels.empty() ? 2 : plan.peers + 1;
}

/// Sums the bytes that may wait at the other end before they are requested there.
std::uint64_t most_waiting_bytes(const std::vector<Channel>& channels) {
  std::uint64_t bytes = 0;
  for (const Channel& channel : channels) bytes += channel.most_bytes * channel.most_waiting;
  return bytes;
}

}  // namespace

/// Makes trees of averaging neighbours if W is constant and they connect all peers: no peer's verbs
/// then run further ahead of another's than along the tree. Otherwise makes trees of all links.
void Assembly::make_verb_trees() {
  std::vector<std::vector<PeerId>> neighbors(fleet.size()), links_too(fleet.size());
  bool two_way = w.has_value();
  for (PeerId i = 0; i < fleet.size(); ++i) {
    const Neighborhood row = neighborhood(i);
    two_way = two_way && row.peers == row.receivers;
    neighbors[i] = row.peers;
    Plan known;
    known.neighborhood = row;
    known.links = links(i);
    links_too[i] = links_of(known);
  }
  if (two_way) verb_trees_ = spanning_tree(neighbors, fleet.trainers());
  for (VerbTree& tree : verb_trees_) tree.averages = true;
  if (verb_trees_.empty()) verb_trees_ = spanning_tree(links_too, fleet.trainers());
}

/// Returns the time that the fleet's own network needs for the most that peer i may send in a round
/// (its part of the model to each neighbour, its part of a minibatch to those of its chain), plus
/// the deadlines of the neighbours that it averages with.
Time Assembly::under_way(PeerId i) const {
  constexpr double longest = 1e6;
  const NetworkSpec& network = fleet.network;
  const StagePlan stage = placed(i);
  std::vector<PeerId> links = neighborhood(i).peers;
  const Time averaging = static_cast<std::int64_t>(links.size()) * fleet.faults.deadline;
  const std::size_t models =
      std::max<std::size_t>(links.size(), 2);  // a ring sum sends its own part twice
  std::ranges::copy(chain_links(stage), std::back_inserter(links));
  std::vector<double> bandwidths{network.nic_bandwidth(i)};
  for (const PeerId j : links) bandwidths.push_back(network.link(i, j).bandwidth);
  std::erase(bandwidths, 0);  // no limit
  if (bandwidths.empty()) return averaging;
  const std::size_t crossings =
      stage.flush ? stage.microbatches : window_of(stage, stage.stage) + 1;
  std::size_t crossing = stage.floats_in + stage.floats_out;
  for (const StagePiece& piece : stage.pieces)
    if (piece.divided) crossing += (stage.members.size() - 1) * (piece.columns + piece.floats_in);
  const std::size_t floats = models * division->range(stage.stage).count + crossings * crossing;
  const double seconds = static_cast<double>(floats * sizeof(float)) / std::ranges::min(bandwidths);
  return averaging +
         std::chrono::ceil<Time>(std::chrono::duration<double>(std::min(seconds, longest)));
}

/// The setup of the method at peer i: only the copies of its stage, if the stage has copies.
std::shared_ptr<const Setup> Assembly::setup_for(PeerId i) const {
  if (!fleet.parallel || fleet.parallel->copies.empty() || i >= fleet.trainers()) return setup;
  const auto own = std::make_shared<Setup>(*setup);
  own->peers = chains.peers_of(chains.stage(i));
  return own;
}

/// The stage plan without the peers that have the same part (`alike`). Members pass their values to
/// the same member of the adjacent stages.
StagePlan Assembly::placed(PeerId i) const {
  const PeerId s = chains.stage(i);
  StagePlan own = division ? division->stage(s, fleet.peers[i].batch)
                           : StagePlan{.stage = s, .stages = fleet.stages()};
  if (!own.first()) own.before = chains.stage_peers(i, s - 1);
  if (!own.last()) own.behind = chains.stage_peers(i, s + 1);
  if (fleet.parallel->tensor == 1) {
    own.copies = chains.peers_of(s);
    own.copy = chains.copy(i);
    return own;
  }
  own.members = chains.stage_peers(i, s);
  own.member = chains.copy(i);
  for (std::vector<PeerId>* const side : {&own.before, &own.behind})
    if (!side->empty()) *side = {(*side)[own.member]};
  return own;
}

/// The copies of a stage; without copies, the same stage of every chain.
std::vector<PeerId> Assembly::alike(PeerId i) const {
  if (fleet.parallel && !fleet.parallel->copies.empty())
    return chains.stage_peers(i, chains.stage(i));
  std::vector<PeerId> all;
  for (PeerId model = 0; model < fleet.models(); ++model)
    all.push_back(chains.counterpart(i, model));
  return all;
}

/// The last stage of a chain computes its loss.
std::optional<StagePlan> Assembly::stage(PeerId i) const {
  if (!fleet.parallel || i >= fleet.trainers()) return std::nullopt;
  StagePlan own = placed(i);
  own.alike = alike(i);
  if (division)
    for (PeerId k = 0; k < chains.peers(); ++k)
      own.under_way = std::max(own.under_way, under_way(chains.first(i) + k));
  return own;
}

Plan Assembly::plan(PeerId i) const {
  const std::optional<StagePlan> own_stage = stage(i);
  const bool averaging = algorithm->mixes && !topology.directed;
  // A stage that skips rounds would leave the others of its chain without it.
  const bool catch_up = catches_up(*this) && chains.peers() == 1;
  Plan plan{
      .id = i,
      .peers = fleet.size(),
      .setup = setup_for(i),
      .trains = i < fleet.trainers() && !is_attacker(*setup, i) &&
                (!own_stage || (own_stage->last() && own_stage->copy + own_stage->member == 0)),
      .holds = holds(i),
      .neighborhood = neighborhood(i),
      .links = links(i),
      .schedule = algorithm->mixes ? schedule_of_peers_ : nullptr,
      .traffic = forges_models(*setup, i) ? attackers_traffic(traffic()) : traffic(),
      .stage = own_stage,
      .is_supplied = fleet.data_servers > 0 && i < fleet.trainers(),
      .samples_for = samples_of(i),
      .experience = experience(i),
      .verbs = i < verb_trees_.size() ? std::optional(verb_trees_[i]) : std::nullopt,
      .channels = {},
      .rounds = rounds,
      .evaluate_every = evaluate_every,
      .evaluate_period = fleet.evaluate_period,
      .checkpoint_every = fleet.checkpoint.every,
      .local_steps = setup->steps_of(chains.chain(i)),
      .batch = i < fleet.trainers() ? fleet.peers[i].batch : 0,
      .live_degrees = averaging && !schedule && fleet.weights == "metropolis",
      .catch_up = catch_up && !serves_samples(i),
      .makes_up = catches_up(*this) && chains.peers() == 1 && !serves_samples(i),
      .keeps_pace = runs_ahead_alone(*this) && !serves_samples(i),
      .ends_with_others = ends_with_others(*this) && !serves_samples(i),
      .successors = catch_up || averages_pairs(*algorithm) ||
                    (algorithm->succeeds && fleet.data_servers == 0),
      .deadline = fleet.faults.deadline,
      .dead_after = fleet.faults.dead_after,
      .patience = patience(fleet),
      .succession = succession(fleet, *algorithm)};
  if (i < shares.size()) plan.share = shares[i];
  if (plan.trains && !push_weights_.empty()) plan.share = push_weights_[chains.chain(i)];
  plan.channels = channels(i, plan.experience);
  plan.standstill = standstill(*this, plan);
  return plan;
}

std::unique_ptr<Replica> choose_replica(std::unique_ptr<Replica> real, const PeerParts& parts) {
  return parts.replica ? parts.replica(std::move(real)) : std::move(real);
}

PeerBody make_peer(
    Plan plan, World& world, Journal& journal, Replica& replica, const PeerParts& parts) {
  PeerBody body;
  if (parts.change_plan) parts.change_plan(plan);
  if (parts.rules) body.rules = parts.rules();
  if (parts.between) body.between = parts.between(world, journal);
  body.peer =
      std::make_unique<Peer>(std::move(plan), body.between.world ? *body.between.world : world,
                             body.between.journal ? *body.between.journal : journal, replica,
                             body.rules ? *body.rules : documented_rules());
  return body;
}

LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages) {
  LinkSettings settings;
  settings.self.peer = plan.id;
  settings.self.peers = plan.peers;
  settings.neighbors = links_of(plan);
  settings.successors = plan.successors;
  settings.rounds = plan.rounds;
  settings.slack = plan.peers;
  const std::size_t model = parameters * sizeof(float);
  constexpr std::size_t pieces = Verbs::most_waiting + 2 * Transfers::window;
  const std::size_t verbs = plan.verbs ? pieces * (verb_word_bytes + verb_piece_bytes) : 0;
  settings.most_unacknowledged_bytes =
      most_models(plan) * std::max(model, exchange_bytes(plan.traffic, parameters)) +
      small_messages + most_waiting_bytes(plan.channels) + verbs;
  return settings;
}

LinkTimes link_times(const FaultSpec& faults) {
  LinkTimes times;
  times.heartbeat = faults.heartbeat;
  times.dead_after = faults.dead_after;
  times.handshake = std::min(times.handshake, faults.dead_after);
  // A broken connection counts as away no later than a silent one.
  times.reconnect_within = std::min(times.reconnect_within, faults.dead_after);
  return times;
}

wire::FrameBounds frame_bounds(const Assembly& fleet) {
  const AlgorithmRow& method = *fleet.algorithm;
  wire::FrameBounds bounds{
      .messages = true, .kinds = bit(Kind::goodbye) | bit(Kind::held_up), .payload_bytes = 0};
  if (method.mixes) {
    bounds.kinds |=
        bit(Kind::contribution) | bit(Kind::beyond) | bit(Kind::fetch) | bit(Kind::model_copy);
    bounds.payload_bytes = std::max(std::min(fleet.dimension, piece_floats) * sizeof(float),
                                    most_payload_bytes(fleet.traffic(), fleet.dimension));
  }
  if (fleet.has_verbs()) {
    bounds.kinds |= bit(Kind::verb);
    bounds.payload_bytes = std::max(bounds.payload_bytes, verb_word_bytes + verb_piece_bytes);
  }
  // All peers have the same channels, except the stages of chains.
  for (PeerId i = 0; i < (fleet.division ? fleet.fleet.size() : 1); ++i)
    for (const Channel& channel : fleet.channels(i)) {
      bounds.kinds |= bit(channel.kind);
      bounds.payload_bytes = std::max(bounds.payload_bytes, channel.most_bytes);
    }
  return bounds;
}

}  // namespace gv
