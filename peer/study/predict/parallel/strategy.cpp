#include "peer/study/predict/parallel/strategy.h"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "gossip/seam/stage.h"
#include "optim/mapped.h"
#include "optim/models/network_cut.h"
#include "peer/fleet/read/sections.h"
#include "peer/wire/frame/frame.h"

namespace gv {
namespace {

/// PipeDream minibatches per stage, enough to make the filling of the chain negligible.
constexpr std::uint32_t minibatches_timed = 60;

constexpr double mostly = 0.75;  ///< fraction of a round that makes compute the bottleneck

/// Returns the copies of x: x, gradient, microbatch sum, older versions, optimizer state.
double copies_of_x(const OptimizerSpec& optimizer, const StagePlan& stage) {
  const double moments = optimizer.kind != "sgd" ? 2 : optimizer.momentum > 0 ? 1 : 0;
  return 2 + (stage.own_microbatches() > 1 ? 1 : 0) + kept_versions(stage) + moments;
}

FrameBytes frame_bytes(PeerId from, Kind kind, std::size_t floats) {
  const auto of = [&](std::uint32_t microbatch) {
    const Message frame{
        .from = from, .kind = kind, .number = 1, .part = microbatch, .payload = {}, .round = 1};
    return static_cast<double>(wire::frame_bytes(frame, floats * sizeof(float)));
  };
  return {of(0), of(1)};
}

ParallelSpec::Schedule schedule_of(const Strategy& d) {
  return d.flush ? ParallelSpec::Schedule::flush : ParallelSpec::Schedule::pipedream;
}

}  // namespace

std::vector<MemberPiece> member_pieces(const NeuralNetwork& network, PeerId members) {
  const std::vector<Cut> cuts = places(network);
  std::vector<MemberPiece> pieces;
  for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
    const Part whole = part(network, cuts, k);
    if (is_divisible(whole) && rows_of(whole) % members != 0) return {};
    const MemberPart own = part_of_member(whole, 0, members);
    pieces.push_back({.parameters = own.part.range.count,
                      .floats_in = whole.floats_in,
                      .slot_bytes = slot_bytes_of(own.part.network),
                      .told = own.divided ? own.part.floats_out + whole.floats_in : 0,
                      .divided = own.divided});
  }
  if (std::ranges::none_of(pieces, &MemberPiece::divided)) return {};
  return pieces;
}

ChainMap Strategy::map() const {
  return ParallelSpec{.stages = stages, .copies = copies, .tensor = tensor}.chains();
}

StagePlan Strategy::stage(PeerId i) const {
  const ChainMap chains = map();
  const PeerId k = chains.stage(i);
  return {.stage = k,
          .stages = stages,
          .copies = tensor > 1 ? 1 : chains.peers_of(k),
          .copy = tensor > 1 ? 0 : chains.copy(i),
          .microbatches = microbatches,
          .ahead = ahead,
          .recompute = recompute,
          .flush = flush,
          .vertical_sync = vertical_sync};
}

StrategyCosts::StrategyCosts(const Assembly& fleet,
                             std::shared_ptr<const ModelProfile> profile,
                             double free_bytes,
                             NetworkInPlace network)
    : fleet_(fleet),
      measured_(std::move(profile)),
      profile_(*measured_),
      n_(fleet.fleet.trainers()),
      batch_(fleet.fleet.peers.front().batch),
      free_(free_bytes),
      network_(std::move(network)) {
  const NeuralNetwork model = make_network(fleet.fleet.model, *fleet.data.train);
  for (PeerId t = 2; t <= n_; ++t) {
    if (n_ % t != 0) continue;
    std::vector<MemberPiece> pieces = member_pieces(model, t);
    if (!pieces.empty()) members_.emplace(t, std::move(pieces));
  }
}

std::vector<PeerId> StrategyCosts::as_numbered() const {
  std::vector<PeerId> place(n_);
  std::iota(place.begin(), place.end(), PeerId{0});
  return place;
}

bool StrategyCosts::has_copies() const {
  return fleet_.algorithm->kind == "all-reduce" && n_ > 1 && batch_ > 1;
}

std::vector<PeerId> StrategyCosts::tensors() const {
  std::vector<PeerId> all{1};
  for (const auto& [t, pieces] : members_) all.push_back(t);
  return all;
}

bool StrategyCosts::can_run(const Strategy& d) const {
  const bool fits = !d.place.empty() && d.place.size() % d.map().peers() == 0;
  if (d.is_plain() || !fits) return fits;
  if (!d.flush || (d.tensor > 1 && !d.copies.empty())) return false;
  if (d.tensor == 1)
    return has_copies() && d.chains() == 1 && std::ranges::max(d.copies) <= d.microbatches &&
           objection_to_copies(*fleet_.algorithm, *fleet_.setup, d.copies).empty();
  if (!members_.contains(d.tensor)) return false;
  const std::vector<MemberPiece>& pieces = members_.at(d.tensor);
  for (PeerId k = 0; k < d.stages; ++k) {
    const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(first_of(d, k));
    const auto end = pieces.begin() + static_cast<std::ptrdiff_t>(end_of(d, k));
    if (std::none_of(first, end, [](const MemberPiece& piece) { return piece.divided; }))
      return false;
  }
  return true;
}

double StrategyCosts::forward(std::size_t first, std::size_t end, std::uint32_t rows) const {
  double seconds = 0;
  for (std::size_t k = first; k < end; ++k) seconds += profile_.forward(k, rows);
  return seconds;
}

double StrategyCosts::backward(std::size_t first, std::size_t end, std::uint32_t rows) const {
  double seconds = 0;
  for (std::size_t k = first; k < end; ++k) seconds += profile_.backward(k, rows);
  return seconds;
}

std::size_t StrategyCosts::first_of(const Strategy& d, PeerId stage) const {
  return stage == 0 ? 0 : d.ends[stage - 1];
}

std::size_t StrategyCosts::end_of(const Strategy& d, PeerId stage) const {
  return stage + 1 == d.stages ? pieces() : d.ends[stage];
}

NetworkSpec StrategyCosts::network_of(const std::vector<PeerId>& place) const {
  return network_ && place != as_numbered() ? network_(place) : fleet_.fleet.network;
}

TimedHop StrategyCosts::hop(const NetworkSpec& network,
                            PeerId from,
                            PeerId to,
                            std::size_t piece,
                            std::uint32_t rows) const {
  const LinkSpec link = network.link(from, to);
  const std::size_t floats = rows * profile_.pieces[piece].floats;
  return {.ahead = frame_bytes(from, Kind::activation, floats),
          .back = frame_bytes(to, Kind::activation_gradient, floats),
          .bandwidth = link.bandwidth,
          .latency = in_seconds(link.latency),
          .inside = link.inside};
}

double StrategyCosts::crossing(std::size_t piece, std::uint32_t rows, PeerId stages) const {
  const NetworkSpec& network = fleet_.fleet.network;
  const ChainMap chains(stages);
  double slowest = 0;
  for (PeerId i = 0; i + 1 < n_; ++i) {
    if (chains.stage(i + 1) == 0) continue;  // the next peer begins another chain
    const TimedHop h = hop(network, i, i + 1, piece, rows);
    const double card = h.inside ? 0 : network.nic_bandwidth(i);
    double rate = h.bandwidth;
    if (card > 0) rate = rate > 0 ? std::min(rate, card) : card;
    slowest = std::max(slowest, h.latency + (rate > 0 ? h.ahead.others / rate : 0));
  }
  return slowest;
}

const MemberPiece* StrategyCosts::member_piece(const Strategy& d, std::size_t piece) const {
  return d.tensor == 1 ? nullptr : &members_.at(d.tensor)[piece];
}

/// Follows Division (peer/runtime/assembly/division.h): a member computes its part of divided
/// pieces, and all of the others.
StrategyCosts::Work StrategyCosts::work(const Strategy& d, PeerId i, std::uint32_t rows) const {
  const StagePlan plan = d.stage(i);
  const std::size_t first = first_of(d, plan.stage);
  const std::size_t end = end_of(d, plan.stage);
  const double speed = fleet_.fleet.peers[d.place[i]].speed;
  const bool adds = plan.own_microbatches() > 1 || kept_versions(plan) > 0;
  double there = 0;
  double back = 0;
  double size = 0;
  for (std::size_t k = first; k < end; ++k) {
    const MemberPiece* const own = member_piece(d, k);
    const PeerId parts = own != nullptr && own->divided ? d.tensor : 1;
    there += profile_.forward(k, rows) / parts;
    back += profile_.backward(k, rows) / parts;
    size += static_cast<double>(profile_.pieces[k].parameters) / parts;
  }
  if (d.recompute) back += there;
  const double add = adds ? size * profile_.add_seconds : 0;
  return {there / speed, back / speed, add / speed, size * profile_.step_seconds / speed};
}

double StrategyCosts::chain_seconds(const Strategy& d) const {
  const NetworkSpec network = network_of(d.place);
  const ChainMap map = d.map();
  const auto n = static_cast<PeerId>(d.place.size());
  double slowest = 0;
  for (PeerId i = 0; i < n; ++i) {
    if (!d.copies.empty()) {
      const Work own = work(d, i, batch_ / d.microbatches);
      const std::uint32_t count = d.stage(i).own_microbatches();
      slowest = std::max(slowest, count * (own.forward + own.backward + own.add) + own.step);
      continue;
    }
    if (d.tensor > 1) slowest = std::max(slowest, seconds_of_words(d, i, network));
    if (map.stage(i) == 0) slowest = std::max(slowest, timetable_seconds(d, i, network));
  }
  return slowest;
}

/// Times the chain that begins with this peer of the first stage; with several members per stage,
/// the chain of the corresponding members.
double StrategyCosts::timetable_seconds(const Strategy& d,
                                        PeerId first,
                                        const NetworkSpec& network) const {
  const std::uint32_t rows = batch_ / d.microbatches;
  std::vector<TimedStage> stages;
  std::vector<TimedHop> hops;
  for (PeerId k = 0; k < d.stages; ++k) {
    const PeerId i = first + k * d.tensor;
    const Work own = work(d, i, rows);
    stages.push_back({.forward = own.forward,
                      .backward = own.backward + own.add,
                      .step = own.step,
                      .window = window_of(d.stage(i), k),
                      .card = network.nic_bandwidth(i)});
    if (k + 1 < d.stages) hops.push_back(hop(network, i, i + d.tensor, end_of(d, k) - 1, rows));
  }
  return d.flush ? time_chain(stages, hops, d.microbatches).round
                 : time_stream(stages, hops, minibatches_timed * d.stages).round;
}

/// Returns the time for a member's messages to the others of its stage in a round, through its card
/// or the slowest link to them.
double StrategyCosts::seconds_of_words(const Strategy& d,
                                       PeerId i,
                                       const NetworkSpec& network) const {
  const PeerId k = d.map().stage(i);
  std::size_t floats = 0;
  for (std::size_t piece = first_of(d, k); piece < end_of(d, k); ++piece)
    floats += member_piece(d, piece)->told;
  const double bytes = static_cast<double>(batch_) * static_cast<double>(floats * sizeof(float));
  const double card = network.nic_bandwidth(i);
  double through_card = 0;
  double slowest = 0;
  for (const PeerId other : d.map().stage_peers(i, k)) {
    if (other == i) continue;
    const LinkSpec link = network.link(i, other);
    if (link.bandwidth > 0) slowest = std::max(slowest, bytes / link.bandwidth);
    if (card > 0 && !link.inside) through_card += bytes / card;
  }
  return std::max(slowest, through_card);
}

/// Copies divide the microbatches in flight. With recomputation, a member keeps each piece's input
/// (optim/train/stage_objective.h).
double StrategyCosts::memory_of(const Strategy& d, PeerId i) const {
  const double rows = batch_ / d.microbatches;
  const StagePlan plan = d.stage(i);
  const std::size_t first = first_of(d, plan.stage);
  std::size_t size = 0;
  std::size_t slot = 0;
  std::size_t input = 0;
  for (std::size_t k = first; k < end_of(d, plan.stage); ++k) {
    const MemberPiece* const own = member_piece(d, k);
    size += own != nullptr ? own->parameters : profile_.pieces[k].parameters;
    slot += own != nullptr ? own->slot_bytes : profile_.pieces[k].slot_bytes;
    if (k > 0 && (k == first || own != nullptr))
      input += profile_.pieces[k - 1].floats * sizeof(float);
  }
  const double under_way = (window_of(plan, plan.stage) + plan.copies) / plan.copies;
  const double kept = d.recompute
                          ? static_cast<double>(slot) + under_way * static_cast<double>(input)
                          : under_way * static_cast<double>(slot);
  return 4 * static_cast<double>(size) * copies_of_x(fleet_.fleet.optimizer, plan) + rows * kept;
}

double StrategyCosts::memory(const Strategy& d) const {
  double most = 0;
  for (PeerId i = 0; i < d.map().peers(); ++i) most = std::max(most, memory_of(d, i));
  return most;
}

std::optional<Strategy> StrategyCosts::fitting(Strategy d) const {
  if (free_ == 0 || memory(d) <= free_) return d;
  d.recompute = true;
  return memory(d) <= free_ ? std::optional(d) : std::nullopt;
}

std::vector<std::string> StrategyCosts::names(const Strategy& d) const {
  return mapped(std::views::iota(PeerId{0}, d.stages),
                [&](PeerId k) { return profile_.pieces[first_of(d, k)].name; });
}

ParallelSpec StrategyCosts::spec_of(const Strategy& d) const {
  return {.stages = d.stages,
          .names = names(d),
          .copies = d.copies,
          .tensor = d.tensor,
          .microbatches = d.microbatches,
          .ahead = d.ahead,
          .recompute = d.recompute,
          .schedule = schedule_of(d),
          .vertical_sync = d.vertical_sync};
}

DryRun StrategyCosts::rounds(const Strategy& d, std::uint32_t batch) const {
  Fleet fleet = fleet_.fleet;
  const std::vector<PeerSpec> peers = fleet.peers;
  fleet.peers.clear();
  for (const PeerId i : d.place) fleet.peers.push_back(peers[i]);
  for (PeerSpec& peer : fleet.peers) peer.batch = batch;
  fleet.network = network_of(d.place);
  fleet.parallel = spec_of(d);
  fleet.profile = measured_;
  const NetworkSpec network = fleet.network;
  return dry_run(Assembly(std::move(fleet)), network);
}

Busy StrategyCosts::busy(const Strategy& d, std::uint32_t batch) const {
  const auto n = static_cast<PeerId>(d.place.size());
  Busy all;
  for (PeerId i = 0; i < n; ++i) {
    const Work own = work(d, i, batch / d.microbatches);
    const double busy = d.stage(i).own_microbatches() * (own.forward + own.backward);
    all.mean += busy / n;
    all.most = std::max(all.most, busy);
  }
  return all;
}

std::string StrategyCosts::bottleneck(const Strategy& d, const ParallelProposal& in_rounds) const {
  const bool computes = busy(d, in_rounds.batch).most > mostly * in_rounds.seconds_per_round;
  if (computes) return d.stages == 1 ? "the gradient" : "the slowest stage";
  if (!d.copies.empty())
    return d.stages == 1 ? "averaging between copies"
                         : "the transfer from stage to stage, or averaging between copies";
  const bool waits = in_rounds.seconds_per_round > 1.5 * chain_seconds(d);
  if (d.tensor > 1 && (waits || d.stages == 1))
    return d.chains() == 1 ? "the exchange between members"
                           : "the exchange between members, or averaging between the chains";
  if (d.stages == 1) return "averaging";
  return waits ? "averaging between the chains" : "the transfer from stage to stage";
}

ParallelProposal StrategyCosts::proposal(const Strategy& d, std::uint32_t batch) const {
  const DryRun dry = rounds(d, batch);
  ParallelProposal p;
  p.stages = names(d);
  p.place = d.place;
  p.copies = d.copies;
  p.tensor = d.tensor;
  p.chains = d.chains();
  p.batch = batch;
  p.microbatches = d.microbatches;
  p.ahead = d.ahead;
  p.recompute = d.recompute;
  p.schedule = schedule_of(d);
  p.vertical_sync = d.vertical_sync;
  p.seconds_per_round = dry.seconds_per_round;
  p.samples_per_second = p.chains * static_cast<double>(batch) / p.seconds_per_round;
  p.idle = 1 - busy(d, batch).mean / p.seconds_per_round;
  p.bytes_per_round = dry.bytes_per_round;
  p.memory_bytes = memory(d);
  p.bottleneck = bottleneck(d, p);
  return p;
}

}  // namespace gv
