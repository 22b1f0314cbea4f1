#include "peer/study/predict/forecast/round_prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "graph/schedule/schedule.h"
#include "optim/mapped.h"
#include "peer/study/predict/forecast/proposal.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/tcp/timing.h"

namespace gv {
namespace {

std::uint64_t frame_bytes(Kind kind, std::size_t floats) {
  const Message m{.from = 0, .kind = kind, .number = 1, .part = 0, .payload = {}};
  return wire::frame_bytes(m, floats * sizeof(float));
}

/// Returns the frame sizes of a whole model, piece by piece.
std::vector<std::uint64_t> model_frames(std::size_t dimension) {
  std::vector<std::uint64_t> frames;
  for (std::size_t at = 0; at < dimension; at += piece_floats)
    frames.push_back(frame_bytes(Kind::contribution, std::min(piece_floats, dimension - at)));
  return frames;
}

/// Seconds of arithmetic on one peer, for the flops that algorithms report to the simulator.
class Compute {
 public:
  Compute(const Assembly& fleet, const Objective& objective, PeerId i)
      : flops_per_second_(fleet.fleet.flops * fleet.fleet.peers[i].speed),
        d_(static_cast<double>(fleet.dimension)),
        gradient_(objective.gradient_flops(fleet.fleet.peers[i].batch)),
        steps_(fleet.setup->steps_of(i)) {}
  double gradient() const { return gradient_ / flops_per_second_; }
  double copy() const { return d_ / flops_per_second_; }
  double step() const { return 2 * d_ / flops_per_second_; }
  /// Returns the time of a peer's gradients with their steps in a round, minus the last `without`.
  double local_steps(double without = 0) const {
    return (gradient() + step()) * (steps_ - without);
  }
  /// Counts only the last piece, because the others are mixed while it travels.
  double mix(std::size_t vectors) const {
    const double last = std::fmod(d_ - 1, piece_floats) + 1;
    return 2 * last * static_cast<double>(vectors) / flops_per_second_;
  }

 private:
  double flops_per_second_, d_, gradient_, steps_;
};

GossipPeer gossip_peer(const Assembly& fleet, const Compute& compute, const Neighborhood& row) {
  GossipPeer peer{.receivers = row.receivers, .before = compute.local_steps(1) + compute.copy()};
  const std::string_view order = fleet.algorithm->order;
  if (order == "lian") {
    peer.during = compute.gradient();
    peer.after = compute.mix(row.peers.size() + 1);
    return peer;
  }
  peer.after = compute.mix(row.peers.size());
  (order == "atc" ? peer.before : peer.after) += compute.gradient() + compute.step();
  return peer;
}

/// Returns one period, or enough rounds of a random schedule: fewer for large n, as a row takes
/// O(n).
std::uint64_t rounds_of(const MixingSchedule& schedule) {
  if (schedule.period() > 0) return schedule.period();
  const double n = schedule.size();
  return static_cast<std::uint64_t>(std::clamp(1e7 / (n * n), 4.0, 64.0));
}

std::vector<RingPeer> ring_peers(const Assembly& fleet) {
  const std::vector<double> before = seconds_alone(fleet);
  std::vector<RingPeer> peers;
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    const double per_float = 1 / (fleet.fleet.flops * fleet.fleet.peers[i].speed);
    peers.push_back({.before = before[i],
                     .per_float = per_float,
                     .after = static_cast<double>(fleet.dimension) * per_float});
  }
  return peers;
}

std::vector<RingPiece> ring_pieces(std::size_t chunk) {
  std::vector<RingPiece> pieces;
  for (std::size_t at = 0; at < chunk; at += piece_floats) {
    const std::size_t floats = std::min(piece_floats, chunk - at);
    pieces.push_back({floats, frame_bytes(Kind::reduce, floats)});
  }
  return pieces;
}

/// Predicts gradients and steps only.
RoundPrediction compute_alone(const Assembly& fleet) {
  const double seconds = std::ranges::max(seconds_alone(fleet));
  return {.seconds_per_round = seconds, .compute_seconds = seconds};
}

Time time(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// The max-plus recursion over rounds (see gossip_round_seconds).
class Recursion {
 public:
  Recursion(const NetworkSpec& network, std::size_t n, std::uint64_t seed) : begin_(n), ready_(n) {
    for (PeerId i = 0; i < n; ++i) shapers_.emplace_back(network, i, seed);
  }

  void round(const std::vector<GossipPeer>& peers, const std::vector<std::uint64_t>& frames) {
    for (std::size_t i = 0; i < peers.size(); ++i)
      ready_[i] = begin_[i] + time(peers[i].before + peers[i].during);
    for (std::size_t i = 0; i < peers.size(); ++i) send(i, peers[i], frames);
    for (std::size_t i = 0; i < peers.size(); ++i) begin_[i] = ready_[i] + time(peers[i].after);
  }

  double end() const { return in_seconds(std::ranges::max(begin_)); }

 private:
  void send(std::size_t i, const GossipPeer& peer, const std::vector<std::uint64_t>& frames) {
    const Time sent = begin_[i] + time(peer.before);
    for (const std::uint64_t bytes : frames) {
      for (const PeerId to : peer.receivers)
        ready_[to] = std::max(ready_[to], shapers_[i].arrival(to, bytes, sent));
    }
  }

  std::vector<Shaper> shapers_;
  std::vector<Time> begin_;  ///< start of the present round
  std::vector<Time> ready_;  ///< own gradient and all models received
};

/// The pieces that travel around a ring, in the order in which the code takes and sends them.
class Ring {
 public:
  Ring(const NetworkSpec& network,
       const std::vector<RingPeer>& peers,
       const std::vector<RingPiece>& chunk,
       std::uint64_t seed)
      : peers_(peers), chunk_(chunk), free_(peers.size()), arrivals_(peers.size()) {
    for (PeerId i = 0; i < peers.size(); ++i) shapers_.emplace_back(network, i, seed);
  }

  void round(std::size_t hops) {
    for (std::size_t i = 0; i < peers_.size(); ++i) free_[i] += time(peers_[i].before);
    go_round(hops);  // reduce
    go_round(hops);  // gather
    for (std::size_t i = 0; i < peers_.size(); ++i) free_[i] += time(peers_[i].after);
  }
  double end() const { return in_seconds(std::ranges::max(free_)); }

 private:
  static constexpr std::size_t pieces_ahead = 4;  // as in collectives.cpp

  void go_round(std::size_t hops) {
    const std::size_t out = hops * chunk_.size();
    for (std::vector<Time>& arrivals : arrivals_) arrivals.clear();
    std::size_t taken = 0;
    for (std::size_t s = 0; s < out + pieces_ahead || taken < out; ++s) {
      const std::size_t needed = s < out && s >= chunk_.size() ? s - chunk_.size() + 1 : 0;
      const std::size_t due = std::max(needed, s >= pieces_ahead ? s - pieces_ahead + 1 : 0);
      for (; taken < std::min(due, out); ++taken) take(taken);
      if (s < out) send(s);
    }
  }
  void take(std::size_t piece) {
    for (std::size_t i = 0; i < peers_.size(); ++i)
      free_[i] = std::max(free_[i], arrivals_[i][piece]) + work(i, piece);
  }
  void send(std::size_t piece) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const std::size_t next = (i + 1) % peers_.size();
      free_[i] += work(i, piece);
      const std::uint64_t bytes = chunk_[piece % chunk_.size()].bytes;
      arrivals_[next].push_back(shapers_[i].arrival(static_cast<PeerId>(next), bytes, free_[i]));
    }
  }
  Time work(std::size_t i, std::size_t piece) const {
    const auto floats = static_cast<double>(chunk_[piece % chunk_.size()].floats);
    return time(floats * peers_[i].per_float);
  }

  const std::vector<RingPeer>& peers_;
  const std::vector<RingPiece>& chunk_;
  std::vector<Shaper> shapers_;
  std::vector<Time> free_;                   ///< time at which each peer is free
  std::vector<std::vector<Time>> arrivals_;  ///< arrival times of pieces, by receiving peer
};

}  // namespace

std::vector<double> seconds_alone(const Assembly& fleet) {
  const std::unique_ptr<Objective> objective = fleet.evaluator();
  return mapped(std::views::iota(PeerId{0}, fleet.fleet.trainers()),
                [&](PeerId i) { return Compute(fleet, *objective, i).local_steps(); });
}

struct GossipClock::Parts {
  explicit Parts(const Assembly& of) : fleet(of), frames(model_frames(of.dimension)) {
    const std::unique_ptr<Objective> objective = of.evaluator();
    for (PeerId i = 0; i < of.fleet.trainers(); ++i) compute.emplace_back(of, *objective, i);
  }
  GossipPeer peer(PeerId i, const Neighborhood& row) const {
    return gossip_peer(fleet, compute[i], row);
  }

  const Assembly& fleet;
  std::vector<std::uint64_t> frames;
  std::vector<Compute> compute{};
};

GossipClock::GossipClock(const Assembly& fleet) : parts_(std::make_unique<const Parts>(fleet)) {}
GossipClock::~GossipClock() = default;

double GossipClock::model_bytes() const {
  return static_cast<double>(std::accumulate(parts_->frames.begin(), parts_->frames.end(), 0ULL));
}

double GossipClock::work(const std::vector<Neighborhood>& rows) const {
  double sends = 0;
  for (const Neighborhood& row : rows) sends += static_cast<double>(row.receivers.size());
  return 64 *
         (static_cast<double>(rows.size()) + sends * static_cast<double>(parts_->frames.size()));
}

double GossipClock::seconds(const std::vector<Neighborhood>& rows) const {
  std::vector<GossipPeer> peers;
  for (PeerId i = 0; i < rows.size(); ++i) peers.push_back(parts_->peer(i, rows[i]));
  const Fleet& fleet = parts_->fleet.fleet;
  return gossip_round_seconds(fleet.network, peers, parts_->frames, fleet.seed);
}

double GossipClock::seconds(const MixingSchedule& schedule) const {
  const auto ids = std::views::iota(PeerId{0}, schedule.size());
  if (schedule.period() == 1)
    return seconds(mapped(ids, [&](PeerId i) { return schedule.row(0, i); }));
  const auto peers = [&](std::uint64_t k) {
    return mapped(ids, [&](PeerId i) { return parts_->peer(i, schedule.row(k, i)); });
  };
  const Fleet& fleet = parts_->fleet.fleet;
  return gossip_round_seconds(fleet.network, {peers, rounds_of(schedule)}, parts_->frames,
                              fleet.seed);
}

double busiest_receivers(const MixingSchedule& schedule) {
  const std::uint64_t rounds = rounds_of(schedule);
  std::vector<double> sums(schedule.size());
  for (std::uint64_t k = 0; k < rounds; ++k) {
    for (PeerId i = 0; i < schedule.size(); ++i)
      sums[i] += static_cast<double>(schedule.row(k, i).receivers.size());
  }
  return std::ranges::max(sums) / static_cast<double>(rounds);
}

RoundPrediction predict_gossip_round(const Assembly& fleet, const MixingSchedule& schedule) {
  const GossipClock clock(fleet);
  RoundPrediction round = compute_alone(fleet);
  round.bytes_per_round = clock.model_bytes() * busiest_receivers(schedule);
  round.seconds_per_round = clock.seconds(schedule);
  // gossip_round_seconds counts whole nanoseconds.
  round.seconds_per_round = std::max(round.seconds_per_round, round.compute_seconds);
  return round;
}

RoundPrediction predict_all_reduce_round(const Assembly& fleet) {
  const std::vector<RingPeer> peers = ring_peers(fleet);
  const std::vector<RingPiece> chunk =
      ring_pieces(std::max<std::size_t>(1, fleet.dimension / peers.size()));
  const auto seconds = [&](const NetworkSpec& network) {
    return ring_round_seconds(network, peers, chunk, fleet.fleet.seed);
  };
  RoundPrediction round = compute_alone(fleet);
  round.seconds_per_round = std::max(seconds(fleet.fleet.network), round.compute_seconds);
  round.compute_seconds = std::max(seconds(NetworkSpec{}), round.compute_seconds);
  // Empty chunks are not sent.
  const std::size_t hops = std::min(peers.size() - 1, fleet.dimension);
  for (const RingPiece& piece : chunk)
    round.bytes_per_round += 2.0 * static_cast<double>(hops * piece.bytes);
  return round;
}

RoundPrediction predict_round(const Assembly& fleet) {
  const AlgorithmRow& row = *fleet.algorithm;
  if (fleet.is_plain_d_psgd()) {
    return fleet.schedule ? predict_gossip_round(fleet, *fleet.schedule)
                          : predict_gossip_round(fleet, PeriodicSchedule({*fleet.w}));
  }
  const bool supplied = fleet.fleet.data_servers > 0 || fleet.fleet.parallel;
  if (row.kind == "all-reduce" && row.order == "ring" && !supplied && !fleet.fleet.codec)
    return predict_all_reduce_round(fleet);
  if (!row.mixes && row.links == nullptr && !supplied) return compute_alone(fleet);
  const DryRun dry = dry_run(fleet, fleet.fleet.network);
  const DryRun alone = dry_run(fleet, NetworkSpec{});
  return {.seconds_per_round = dry.seconds_per_round,
          .compute_seconds = std::min(alone.seconds_per_round, dry.seconds_per_round),
          .bytes_per_round = dry.bytes_per_round};
}

double ring_round_seconds(const NetworkSpec& network,
                          const std::vector<RingPeer>& peers,
                          const std::vector<RingPiece>& chunk,
                          std::uint64_t seed) {
  constexpr std::size_t most_work = 8'000'000, rounds = 4;
  if (peers.size() < 2) return peers.front().before + peers.front().after;
  const std::size_t all = peers.size() - 1;
  const std::size_t work = 4 * rounds * peers.size() * chunk.size();  // per hop
  const std::size_t hops = std::clamp<std::size_t>(most_work / work, 1, all);
  Ring ring(network, peers, chunk, seed);
  double before = 0;
  for (std::size_t round = 0; round < 2 * rounds; ++round) {
    if (round == rounds) before = ring.end();
    ring.round(hops);
  }
  const double each = (ring.end() - before) / rounds;
  if (hops == all) return each;
  double compute = 0;
  for (const RingPeer& peer : peers) compute = std::max(compute, peer.before + peer.after);
  return compute + (each - compute) * static_cast<double>(all) / static_cast<double>(hops);
}

double gossip_round_seconds(const NetworkSpec& network,
                            const GossipRounds& rounds,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed) {
  constexpr std::size_t most_work = 4'000'000;
  const std::vector<GossipPeer> first = rounds.peers(0);
  std::size_t work = first.size();
  for (const GossipPeer& peer : first) work += peer.receivers.size() * frames.size();
  const std::size_t wanted = std::clamp<std::size_t>(most_work / (2 * work), 2, 32);
  const std::size_t half = (wanted + rounds.period - 1) / rounds.period * rounds.period;
  Recursion recursion(network, first.size(), seed);
  for (std::size_t k = 0; k < half; ++k) recursion.round(rounds.peers(k), frames);
  const double settled = recursion.end();
  for (std::size_t k = half; k < 2 * half; ++k) recursion.round(rounds.peers(k), frames);
  return (recursion.end() - settled) / static_cast<double>(half);
}

double gossip_round_seconds(const NetworkSpec& network,
                            const std::vector<GossipPeer>& peers,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed) {
  return gossip_round_seconds(network, GossipRounds{[&peers](std::uint64_t) { return peers; }},
                              frames, seed);
}

double WallClock::bytes_seconds(double models) const {
  return bandwidth > 0 ? models * model_bytes / bandwidth : 0;
}

double WallClock::ring_all_reduce() const {
  const auto n = static_cast<double>(peers);
  return compute + 2 * (n - 1) * latency + bytes_seconds(2 * (n - 1) / n);
}

double WallClock::server() const {
  return compute + 2 * latency + bytes_seconds(2 * static_cast<double>(peers));
}

double WallClock::gossip(double models, bool overlaps) const {
  if (models <= 0) return compute;
  const double wire = latency + bytes_seconds(models);
  return overlaps ? std::max(compute, wire) : compute + wire;
}

}  // namespace gv
