#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/models/network_builder.h"
#include "peer/fleet/model_profile.h"
#include "peer/fleet/specs.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/forecast/proposal.h"

namespace gv {

/// A stage of a chain in time, in seconds.
struct TimedStage {
  double forward = 0;        ///< per microbatch
  double backward = 0;       ///< per microbatch, including the addition of its gradient
  double step = 0;           ///< per minibatch
  std::uint32_t window = 0;  ///< see window_of (gossip/seam/stage.h)
  double card = 0;           ///< bytes per second sent in total; 0: no limit
};

/// Sizes of a minibatch's frames that cross a hop one way. A frame contains the number of its
/// microbatch, and the number 0 takes no space.
struct FrameBytes {
  double first = 0, others = 0;

  double of(std::uint32_t microbatch) const { return microbatch == 0 ? first : others; }
};

/// A hop from a stage to the next.
struct TimedHop {
  FrameBytes ahead{}, back{};
  double bandwidth = 0;  ///< bytes per second each way; 0: no limit
  double latency = 0;    ///< seconds
  bool inside = false;   ///< within a machine, bypassing the card
};

/// Times of minibatches in a chain.
struct Timetable {
  double gradient = 0;  ///< seconds until the whole minibatch has come back
  double round = 0;     ///< seconds until the first stage can begin the next one
  double idle = 0;      ///< idle fraction of the stages' time in `gradient`
};

/// Returns the longest path through the turns of all stages (Kelley 1961). Each turn waits for its
/// stage and for its input from an adjacent stage; outputs leave through the stage's card in the
/// order of turns. `hops`: one less than `stages`.
Timetable time_chain(std::span<const TimedStage> stages,
                     std::span<const TimedHop> hops,
                     std::uint32_t microbatches);

/// Times minibatches that follow each other without a flush (gossip/seam/stage.h), at least three.
/// `gradient`: until the last has come back and the first stage has stepped. `round`: time between
/// consecutive minibatches in the middle, and `idle` in that time. With several per stage, this is
/// the steady state.
Timetable time_stream(std::span<const TimedStage> stages,
                      std::span<const TimedHop> hops,
                      std::uint32_t minibatches);

/// A member's part of a piece between two cut places (optim/models/network_cut.h).
struct MemberPiece {
  std::size_t parameters = 0;
  std::size_t floats_in = 0;   ///< input floats per row; 0: the data's
  std::size_t slot_bytes = 0;  ///< activations per row in flight
  std::size_t told = 0;        ///< floats per row sent to each other member, both ways
  bool divided = false;        ///< otherwise the member has the whole piece
};

/// Returns the pieces in order. Empty if this number of members cannot divide the network, because
/// no layer can be divided, or a divisible one has rows that they do not divide evenly.
std::vector<MemberPiece> member_pieces(const NeuralNetwork& network, PeerId members);

/// A way to train the fleet's model on its peers.
struct ParallelProposal {
  std::vector<std::string> stages{};  ///< modules at which stages begin
  std::vector<PeerId> place{};        ///< the peers, stage by stage and chain by chain
  std::vector<PeerId> copies{};       ///< peers per stage; none: one each
  PeerId tensor = 1;                  ///< members per stage
  PeerId chains = 1;
  std::uint32_t batch = 1;  ///< per chain and round
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;  ///< ParallelSpec::all: all microbatches
  bool recompute = false;
  ParallelSpec::Schedule schedule = ParallelSpec::Schedule::flush;
  bool vertical_sync = false;
  double seconds_per_round = 0;
  double samples_per_second = 0;
  double idle = 0;             ///< fraction of the peers' time without compute
  double bytes_per_round = 0;  ///< bytes sent by the busiest peer
  double memory_bytes = 0;     ///< for the peer that needs most
  std::string bottleneck{};    ///< what limits the length of a round

  /// Returns whether several peers train one model; otherwise each has its own.
  bool is_divided() const { return stages.size() > 1 || !copies.empty() || tensor > 1; }
};

/// One way to divide a network over the peers of a fleet.
struct Strategy {
  PeerId stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;  ///< ParallelSpec::all: all microbatches
  bool recompute = false;
  bool flush = true;
  bool vertical_sync = false;
  /// Ends of the stages but the last, in pieces of the profile, ascending.
  std::vector<std::size_t> ends{};
  /// The fleet's peers in this order: stage by stage and chain by chain.
  std::vector<PeerId> place{};
  /// Peers per stage, which share its microbatches; none: one each.
  std::vector<PeerId> copies{};
  PeerId tensor = 1;  ///< members per stage, which divide its layers

  auto operator<=>(const Strategy&) const = default;

  ChainMap map() const;
  PeerId chains() const { return static_cast<PeerId>(place.size()) / map().peers(); }
  /// Returns whether each stage has one peer; the timetable covers only such chains.
  bool is_plain() const { return copies.empty() && tensor == 1; }
  StagePlan stage(PeerId i) const;  ///< plan for peer i
};

/// Returns the network between the fleet's peers in this order: links between hosts follow their
/// machines; links between numbered peers stay.
using NetworkInPlace = std::function<NetworkSpec(const std::vector<PeerId>& place)>;

/// Compute seconds of the peers in a round.
struct Busy {
  double mean = 0, most = 0;
};

/// Costs of the ways to divide the fleet's model.
class StrategyCosts {
 public:
  /// `free_bytes`: memory available to a peer; 0: unknown. If `network` is null, the fleet's
  /// network applies to any order.
  StrategyCosts(const Assembly& fleet,
                std::shared_ptr<const ModelProfile> profile,
                double free_bytes,
                NetworkInPlace network);

  PeerId peers() const { return n_; }
  std::uint32_t batch() const { return batch_; }
  std::size_t pieces() const { return profile_.pieces.size(); }
  const Assembly& fleet() const { return fleet_; }
  const ModelProfile& profile() const { return profile_; }
  /// Returns the peers in file order.
  std::vector<PeerId> as_numbered() const;

  /// Returns whether stages may have copies: the fleet's method averages over copies of a stage,
  /// and minibatches have enough microbatches to share.
  bool has_copies() const;
  /// Returns the numbers of members that can divide the network and the fleet, ascending from 1.
  std::vector<PeerId> tensors() const;
  /// Returns whether a fleet file with this `parallel` would be accepted. Call it for random copies
  /// or members.
  bool can_run(const Strategy& d) const;

  /// Returns the seconds of pieces [first, end) on a peer of speed 1.
  double forward(std::size_t first, std::size_t end, std::uint32_t rows) const;
  double backward(std::size_t first, std::size_t end, std::uint32_t rows) const;
  /// Returns seconds one way over the slowest hop on which this cut may lie, in file order.
  double crossing(std::size_t piece, std::uint32_t rows, PeerId stages) const;

  /// Returns the seconds of a minibatch with its step in the slowest chain, by the timetable,
  /// without averaging. With copies or members of stages this is a lower bound for a round: the
  /// work of copies, or of members without messages, or the time to send these.
  double chain_seconds(const Strategy& d) const;
  /// Returns the bytes of the peer that needs most.
  double memory(const Strategy& d) const;
  /// Returns the same strategy, with recomputation if memory requires it, or nothing if it does not
  /// fit at all.
  std::optional<Strategy> fitting(Strategy d) const;
  /// Simulates rounds of the fleet with this strategy and its own method in virtual time. The
  /// seconds are 0 if a chain ends before its first round. Throws FleetError and
  /// std::invalid_argument for an impossible fleet, such as a graph of another size.
  DryRun rounds(const Strategy& d, std::uint32_t batch) const;
  Busy busy(const Strategy& d, std::uint32_t batch) const;

  std::vector<std::string> names(const Strategy& d) const;
  ParallelProposal proposal(const Strategy& d, std::uint32_t batch) const;

 private:
  std::size_t first_of(const Strategy& d, PeerId stage) const;
  std::size_t end_of(const Strategy& d, PeerId stage) const;
  /// Work of a peer for a microbatch, in its own seconds.
  struct Work {
    double forward = 0, backward = 0;
    double add = 0;  ///< adding its gradient to the sum
    double step = 0;
  };
  Work work(const Strategy& d, PeerId i, std::uint32_t rows) const;
  /// Returns a member's part of a piece; null if its peers have the whole piece.
  const MemberPiece* member_piece(const Strategy& d, std::size_t piece) const;
  double timetable_seconds(const Strategy& d, PeerId first, const NetworkSpec& network) const;
  double seconds_of_words(const Strategy& d, PeerId i, const NetworkSpec& network) const;
  double memory_of(const Strategy& d, PeerId i) const;
  ParallelSpec spec_of(const Strategy& d) const;
  /// Returns what limits the length of a round.
  std::string bottleneck(const Strategy& d, const ParallelProposal& in_rounds) const;
  /// Returns the hop between peers of consecutive stages after a piece.
  TimedHop hop(const NetworkSpec& network,
               PeerId from,
               PeerId to,
               std::size_t piece,
               std::uint32_t rows) const;
  NetworkSpec network_of(const std::vector<PeerId>& place) const;

  const Assembly& fleet_;
  std::shared_ptr<const ModelProfile> measured_;
  const ModelProfile& profile_;
  PeerId n_;
  std::uint32_t batch_;
  double free_;
  NetworkInPlace network_;
  std::map<PeerId, std::vector<MemberPiece>> members_{};  ///< by number of members
};

}  // namespace gv
