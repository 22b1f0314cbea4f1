#include "peer/study/predict/parallel/strategy.h"

#include <algorithm>
#include <numeric>

#include "gossip/stage_versions.h"
#include "peer/wire/frame/frame.h"

namespace gv {
namespace {

/// Of PipeDream, for each stage: so many that how the chain was filled tells little.
constexpr std::uint32_t minibatches_timed = 60;

/// Of x, its gradient, the sum of microbatches, older versions, and what the optimizer remembers.
double copies_of_x(const OptimizerSpec& optimizer, const StagePlan& stage) {
  const double moments = optimizer.kind != "sgd" ? 2 : optimizer.momentum > 0 ? 1 : 0;
  return 2 + (stage.microbatches > 1 ? 1 : 0) + kept_versions(stage) + moments;
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

StagePlan Strategy::stage(PeerId k) const {
  return {.stage = k,
          .stages = stages,
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
      network_(std::move(network)) {}

std::vector<PeerId> StrategyCosts::as_numbered() const {
  std::vector<PeerId> place(n_);
  std::iota(place.begin(), place.end(), PeerId{0});
  return place;
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

std::size_t StrategyCosts::parameters(std::size_t first, std::size_t end) const {
  std::size_t sum = 0;
  for (std::size_t k = first; k < end; ++k) sum += profile_.pieces[k].parameters;
  return sum;
}

std::size_t StrategyCosts::slots(std::size_t first, std::size_t end) const {
  std::size_t sum = 0;
  for (std::size_t k = first; k < end; ++k) sum += profile_.pieces[k].slot_bytes;
  return sum;
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
                            PeerId i,
                            std::size_t piece,
                            std::uint32_t rows) const {
  const LinkSpec link = network.link(i, i + 1);
  const std::size_t floats = rows * profile_.pieces[piece].floats;
  return {.ahead = frame_bytes(i, Kind::activation, floats),
          .back = frame_bytes(i + 1, Kind::activation_gradient, floats),
          .bandwidth = link.bandwidth,
          .latency = in_seconds(link.latency),
          .inside = link.inside};
}

double StrategyCosts::crossing(std::size_t piece, std::uint32_t rows, PeerId stages) const {
  const NetworkSpec& network = fleet_.fleet.network;
  const ChainMap chains(stages);
  double slowest = 0;
  for (PeerId i = 0; i + 1 < n_; ++i) {
    if (chains.stage(i + 1) == 0) continue;  // the next one begins another chain
    const TimedHop h = hop(network, i, piece, rows);
    const double card = h.inside ? 0 : network.nic_bandwidth(i);
    double rate = h.bandwidth;
    if (card > 0) rate = rate > 0 ? std::min(rate, card) : card;
    slowest = std::max(slowest, h.latency + (rate > 0 ? h.ahead.others / rate : 0));
  }
  return slowest;
}

double StrategyCosts::chain_seconds(const Strategy& d) const {
  const std::uint32_t rows = batch_ / d.microbatches;
  const NetworkSpec network = network_of(d.place);
  double slowest = 0;
  for (PeerId chain = 0; chain < d.chains(); ++chain) {
    std::vector<TimedStage> stages;
    std::vector<TimedHop> hops;
    for (PeerId k = 0; k < d.stages; ++k) {
      const PeerId i = d.map().counterpart(k, chain);
      const std::size_t first = first_of(d, k);
      const std::size_t end = end_of(d, k);
      const double speed = fleet_.fleet.peers[d.place[i]].speed;
      const auto size = static_cast<double>(parameters(first, end));
      const StagePlan plan = d.stage(k);
      const bool adds = d.microbatches > 1 || kept_versions(plan) > 0;
      const double there = forward(first, end, rows);
      const double back = backward(first, end, rows) + (d.recompute ? there : 0) +
                          (adds ? size * profile_.add_seconds : 0);
      stages.push_back({.forward = there / speed,
                        .backward = back / speed,
                        .step = size * profile_.step_seconds / speed,
                        .window = window_of(plan, k),
                        .card = network.nic_bandwidth(i)});
      if (k + 1 < d.stages) hops.push_back(hop(network, i, end - 1, rows));
    }
    const Timetable table = d.flush ? time_chain(stages, hops, d.microbatches)
                                    : time_stream(stages, hops, minibatches_timed * d.stages);
    slowest = std::max(slowest, table.round);
  }
  return slowest;
}

double StrategyCosts::memory(const Strategy& d) const {
  const double rows = batch_ / d.microbatches;
  double most = 0;
  for (PeerId k = 0; k < d.stages; ++k) {
    const std::size_t first = first_of(d, k);
    const std::size_t end = end_of(d, k);
    const StagePlan plan = d.stage(k);
    const double under_way = window_of(plan, k) + 1.0;
    const auto slot = static_cast<double>(slots(first, end));
    const double input =
        first == 0 ? 0 : 4.0 * static_cast<double>(profile_.pieces[first - 1].floats);
    const double kept = d.recompute ? slot + under_way * input : under_way * slot;
    const double x =
        4 * static_cast<double>(parameters(first, end)) * copies_of_x(fleet_.fleet.optimizer, plan);
    most = std::max(most, x + rows * kept);
  }
  return most;
}

std::optional<Strategy> StrategyCosts::fitting(Strategy d) const {
  if (free_ == 0 || memory(d) <= free_) return d;
  d.recompute = true;
  return memory(d) <= free_ ? std::optional(d) : std::nullopt;
}

std::vector<std::string> StrategyCosts::names(const Strategy& d) const {
  std::vector<std::string> names;
  for (PeerId k = 0; k < d.stages; ++k) names.push_back(profile_.pieces[first_of(d, k)].name);
  return names;
}

DryRun StrategyCosts::rounds(const Strategy& d, std::uint32_t batch) const {
  Fleet fleet = fleet_.fleet;
  const std::vector<PeerSpec> peers = fleet.peers;
  fleet.peers.clear();
  for (const PeerId i : d.place) fleet.peers.push_back(peers[i]);
  for (PeerSpec& peer : fleet.peers) peer.batch = batch;
  fleet.network = network_of(d.place);
  fleet.parallel = ParallelSpec{.stages = d.stages,
                                .names = names(d),
                                .microbatches = d.microbatches,
                                .ahead = d.ahead,
                                .recompute = d.recompute,
                                .schedule = schedule_of(d),
                                .vertical_sync = d.vertical_sync};
  fleet.profile = measured_;
  const NetworkSpec network = fleet.network;
  return dry_run(Assembly(std::move(fleet)), network);
}

Busy StrategyCosts::busy(const Strategy& d, std::uint32_t batch) const {
  const std::uint32_t rows = batch / d.microbatches;
  const auto n = static_cast<PeerId>(d.place.size());
  Busy all;
  for (PeerId i = 0; i < n; ++i) {
    const PeerId k = d.map().stage(i);
    const std::size_t first = first_of(d, k);
    const std::size_t end = end_of(d, k);
    const double once =
        forward(first, end, rows) * (d.recompute ? 2 : 1) + backward(first, end, rows);
    const double busy = d.microbatches * once / fleet_.fleet.peers[d.place[i]].speed;
    all.mean += busy / n;
    all.most = std::max(all.most, busy);
  }
  return all;
}

ParallelProposal StrategyCosts::proposal(const Strategy& d, std::uint32_t batch) const {
  const DryRun dry = rounds(d, batch);
  ParallelProposal p;
  p.stages = names(d);
  p.place = d.place;
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
  return p;
}

}  // namespace gv
