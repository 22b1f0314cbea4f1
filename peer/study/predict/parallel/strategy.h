#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/models/network_builder.h"
#include "peer/fleet/model_profile.h"
#include "peer/fleet/specs.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/proposal.h"
#include "peer/study/predict/parallel/timetable.h"

namespace gv {

/// What one member of a stage has of a piece between two places (optim/models/network_cut.h).
struct MemberPiece {
  std::size_t parameters = 0;
  std::size_t floats_in = 0;   ///< of a row that it begins with; 0: those of the data
  std::size_t slot_bytes = 0;  ///< of a row that went forward and has not come back
  std::size_t told = 0;        ///< floats of a row that each other member is sent, there and back
  bool divided = false;        ///< else it has all of it
};

/// Of each piece, in their order. Empty: so many members cannot divide the network, since no layer
/// of it can be divided, or one that can has rows that they do not divide evenly.
std::vector<MemberPiece> member_pieces(const NeuralNetwork& network, PeerId members);

/// A way to train the fleet's model on its peers.
struct ParallelProposal {
  std::vector<std::string> stages{};  ///< the modules that they begin with
  std::vector<PeerId> place{};        ///< of the peers, stage by stage and chain by chain
  std::vector<PeerId> copies{};       ///< peers of each stage; empty: one of each
  PeerId tensor = 1;                  ///< members of each stage
  PeerId chains = 1;
  std::uint32_t batch = 1;  ///< of a chain and round
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;  ///< ParallelSpec::all: as many as there are
  bool recompute = false;
  ParallelSpec::Schedule schedule = ParallelSpec::Schedule::flush;
  bool vertical_sync = false;
  double seconds_per_round = 0;
  double samples_per_second = 0;
  double idle = 0;             ///< share of the peers' time in which they do not compute
  double bytes_per_round = 0;  ///< sent by the busiest peer
  double memory_bytes = 0;     ///< of the peer that needs most
  std::string bottleneck{};    ///< what a round would be shorter with less of

  /// Several peers train one model: else each has one of its own.
  bool is_divided() const { return stages.size() > 1 || !copies.empty() || tensor > 1; }
};

/// One way to divide a network over the peers of a fleet.
struct Strategy {
  PeerId stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;  ///< ParallelSpec::all: as many as there are
  bool recompute = false;
  bool flush = true;
  bool vertical_sync = false;
  /// Where its stages end, in pieces of the profile, ascending: one less than there are stages.
  std::vector<std::size_t> ends{};
  /// Which of the fleet's peers each one is, stage by stage and chain by chain.
  std::vector<PeerId> place{};
  /// Peers of each stage, which share its microbatches; empty: one of each.
  std::vector<PeerId> copies{};
  PeerId tensor = 1;  ///< members of each stage, which divide its layers

  auto operator<=>(const Strategy&) const = default;

  ChainMap map() const;
  PeerId chains() const { return static_cast<PeerId>(place.size()) / map().peers(); }
  /// One peer has each stage: such chains the timetable knows.
  bool is_plain() const { return copies.empty() && tensor == 1; }
  StagePlan stage(PeerId i) const;  ///< of peer i
};

/// The network between the fleet's peers when they stand in this order: links between hosts go with
/// their machines, and those between numbered peers stay.
using NetworkInPlace = std::function<NetworkSpec(const std::vector<PeerId>& place)>;

/// Seconds in which the peers compute in a round.
struct Busy {
  double mean = 0, most = 0;
};

/// Holds what a way to divide the fleet's model takes.
class StrategyCosts {
 public:
  /// `free_bytes`: what a peer's memory holds; 0: unknown. `network`: null: the fleet's, whatever
  /// the order.
  StrategyCosts(const Assembly& fleet,
                std::shared_ptr<const ModelProfile> profile,
                double free_bytes,
                NetworkInPlace network);

  PeerId peers() const { return n_; }
  std::uint32_t batch() const { return batch_; }
  std::size_t pieces() const { return profile_.pieces.size(); }
  const Assembly& fleet() const { return fleet_; }
  const ModelProfile& profile() const { return profile_; }
  /// The peers as they stand.
  std::vector<PeerId> as_numbered() const;

  /// The fleet's method averages what copies of a stage have, and its minibatches have microbatches
  /// for several of them.
  bool has_copies() const;
  /// Members that can divide the network, ascending from 1, and that divide the fleet.
  std::vector<PeerId> tensors() const;
  /// Says whether a fleet file with this `parallel` would be taken. Whoever has drawn copies or
  /// members asks.
  bool can_run(const Strategy& d) const;

  /// Seconds of pieces [first, end) on a peer of speed 1.
  double forward(std::size_t first, std::size_t end, std::uint32_t rows) const;
  double backward(std::size_t first, std::size_t end, std::uint32_t rows) const;
  /// One way across the slowest of the hops that this cut may lie on, in the order of the numbers.
  double crossing(std::size_t piece, std::uint32_t rows, PeerId stages) const;

  /// Of a minibatch with its step, of the slowest chain, by the timetable: without averaging. Where
  /// stages have copies or members a round takes this at least: copies have their own work to do,
  /// and members that of a chain without a word to each other, and to send what they tell.
  double chain_seconds(const Strategy& d) const;
  /// Bytes of the peer that needs most.
  double memory(const Strategy& d) const;
  /// The same way, or where memory asks for it computed once more on the way back. Nothing: it fits
  /// in no way.
  std::optional<Strategy> fitting(Strategy d) const;
  /// Rounds of the fleet that would train so, with its own method, in virtual time. `seconds` is 0
  /// where a chain ends before it has done a round. Throws FleetError and std::invalid_argument for
  /// a fleet that cannot be, such as a graph of other sizes.
  DryRun rounds(const Strategy& d, std::uint32_t batch) const;
  Busy busy(const Strategy& d, std::uint32_t batch) const;

  std::vector<std::string> names(const Strategy& d) const;
  ParallelProposal proposal(const Strategy& d, std::uint32_t batch) const;

 private:
  std::size_t first_of(const Strategy& d, PeerId stage) const;
  std::size_t end_of(const Strategy& d, PeerId stage) const;
  /// What a peer has to do of a microbatch of so many rows, in its own seconds.
  struct Work {
    double forward = 0, backward = 0;
    double add = 0;  ///< its gradient to that of others
    double step = 0;
  };
  Work work(const Strategy& d, PeerId i, std::uint32_t rows) const;
  /// The members' parts of a piece; null: its peers have all of it.
  const MemberPiece* member_piece(const Strategy& d, std::size_t piece) const;
  double timetable_seconds(const Strategy& d, PeerId first, const NetworkSpec& network) const;
  double seconds_of_words(const Strategy& d, PeerId i, const NetworkSpec& network) const;
  double memory_of(const Strategy& d, PeerId i) const;
  ParallelSpec spec_of(const Strategy& d) const;
  /// From a peer of the strategy to one of the next stage, behind a piece.
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
  std::map<PeerId, std::vector<MemberPiece>> members_{};  ///< by how many there are
};

}  // namespace gv
