#include "peer/runtime/round_prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "peer/network/round_model.h"
#include "peer/wire/frame.h"

namespace gv {
namespace {

std::uint64_t frame_bytes(Kind kind, std::size_t floats) {
  const Message m{.from = 0, .kind = kind, .step = 1, .part = 0, .payload = {}};
  return wire::frame_bytes(m) + floats * sizeof(float);
}

/// Of a whole model, piece by piece.
std::vector<std::uint64_t> model_frames(std::size_t dimension) {
  std::vector<std::uint64_t> frames;
  for (std::size_t at = 0; at < dimension; at += piece_floats)
    frames.push_back(frame_bytes(Kind::model, std::min(piece_floats, dimension - at)));
  return frames;
}

/// Of the arithmetic on one peer; the flops are those that the algorithms tell the simulator.
class Compute {
 public:
  Compute(const Assembly& fleet, const Objective& objective, PeerId i)
      : flops_per_second_(fleet.fleet.flops * fleet.fleet.peers[i].speed),
        d_(static_cast<double>(fleet.dimension)),
        gradient_(objective.gradient_flops(fleet.fleet.peers[i].batch)) {}
  double gradient() const { return gradient_ / flops_per_second_; }
  double copy() const { return d_ / flops_per_second_; }
  double step() const { return 2 * d_ / flops_per_second_; }
  /// Of the last piece; the pieces before it are mixed while it travels.
  double mix(std::size_t vectors) const {
    const double last = std::fmod(d_ - 1, piece_floats) + 1;
    return 2 * last * static_cast<double>(vectors) / flops_per_second_;
  }

 private:
  double flops_per_second_, d_, gradient_;
};

GossipPeer gossip_peer(const Assembly& fleet, const Compute& compute, PeerId i) {
  const Neighborhood row = fleet.w->row(i);
  const double local = (compute.gradient() + compute.step()) * (fleet.fleet.local_steps - 1);
  GossipPeer peer{.receivers = row.receivers, .before = local + compute.copy()};
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

void predict_gossip(const Assembly& fleet, const Objective& objective, RoundPrediction& round) {
  std::vector<GossipPeer> peers;
  const std::vector<std::uint64_t> frames = model_frames(fleet.dimension);
  const auto bytes = static_cast<double>(std::accumulate(frames.begin(), frames.end(), 0ULL));
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    peers.push_back(gossip_peer(fleet, Compute(fleet, objective, i), i));
    round.bytes_per_round =
        std::max(round.bytes_per_round, bytes * static_cast<double>(peers[i].receivers.size()));
  }
  round.seconds_per_round =
      gossip_round_seconds(fleet.fleet.network, peers, frames, fleet.fleet.seed);
}

/// Each hop copies one chunk out and adds or copies one in: at the mean speed of the ring, since
/// the hops of different peers overlap. Then each peer scales the sum.
double ring_arithmetic_seconds(const Assembly& fleet) {
  const PeerId n = fleet.fleet.size();
  double mean = 0;     // seconds per operation
  double slowest = 0;  // of all peers
  for (const PeerSpec& peer : fleet.fleet.peers) {
    const double seconds = 1 / (fleet.fleet.flops * peer.speed);
    mean += seconds / n;
    slowest = std::max(slowest, seconds);
  }
  const double hops = 2.0 * (n - 1);
  return hops * 2 * static_cast<double>(fleet.dimension / n) * mean +
         static_cast<double>(fleet.dimension) * slowest;
}

void predict_ring(const Assembly& fleet, RoundPrediction& round) {
  const PeerId n = fleet.fleet.size();
  round.compute_seconds += ring_arithmetic_seconds(fleet);
  const auto chunk = static_cast<double>(frame_bytes(Kind::reduce, fleet.dimension / n));
  round.bytes_per_round = 2.0 * (n - 1) * chunk;
  round.seconds_per_round =
      round.compute_seconds + ring_all_reduce_seconds(fleet.fleet.network, n, n * chunk);
}

}  // namespace

RoundPrediction predict_round(const Assembly& fleet) {
  RoundPrediction round;
  const std::unique_ptr<Objective> objective = fleet.evaluator();
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    const Compute compute(fleet, *objective, i);
    const double steps = (compute.gradient() + compute.step()) * fleet.fleet.local_steps;
    round.compute_seconds = std::max(round.compute_seconds, steps);
  }
  round.seconds_per_round = round.compute_seconds;
  if (fleet.algorithm->links == Links::topology) predict_gossip(fleet, *objective, round);
  if (fleet.algorithm->links == Links::ring) predict_ring(fleet, round);
  round.network_seconds = round.seconds_per_round - round.compute_seconds;
  return round;
}

}  // namespace gv
