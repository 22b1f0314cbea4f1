#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/family.h"

namespace gv {

/// A mixing matrix for every round: W_0, W_1, ... All peers compute the same sequence, each its own
/// row, from nothing but the specification, the number of peers and the seed in it.
class MixingSchedule {
 public:
  virtual ~MixingSchedule() = default;

  virtual PeerId size() const = 0;
  /// Row i of W_round, with the receivers of i. Pure: the same arguments, the same row, anywhere.
  virtual Neighborhood row(std::uint64_t round, PeerId i) const = 0;
  virtual bool directed() const { return false; }
  /// Whoever stands in row i of some round, all weights 0: with whom i must be connected. Here: all
  /// rounds of the period, or everyone when there is none.
  virtual Neighborhood links(PeerId i) const;
  /// W_{round + period} = W_round; 0: random, without a period.
  virtual std::uint64_t period() const = 0;
  /// ||E[W^T W] - J||_2 of a random schedule where it has a formula: the expected squared
  /// disagreement shrinks at least by it in each round.
  virtual std::optional<double> contraction() const { return std::nullopt; }
  /// By which it may be larger, where it comes from an iteration.
  virtual double contraction_error() const { return 0; }

  /// W_round, put together from its rows and checked: doubly stochastic.
  MixingMatrix matrix(std::uint64_t round) const;
  /// The graph of all links.
  Topology topology(std::string name) const;
};

/// A schedule by name and parameters, before the number of peers is known.
struct ScheduleSpec {
  std::string kind = "static";
  TopologySpec topology;               ///< static, matcha: the graph
  std::string weights = "metropolis";  ///< static
  PeerId k = 1;                        ///< base: the most neighbours in a round
  PeerId shifts = 0;                   ///< equi-dyn: how many shifts to draw from; 0: all
  double eta = 0.5;                    ///< equi-dyn: in (0, 1], how much of W^(a) against I
  double budget = 0.5;                 ///< matcha: share of the matchings active in expectation
  std::uint64_t seed = 1;              ///< random kinds
};

/// What `graph list` prints of schedules.
const std::vector<Family>& schedule_kinds();
/// Whether `text`, "kind" or "kind:parameters", names a schedule rather than a topology.
bool is_schedule(std::string_view text);

/// Parses "one-peer-exponential", "random-matching:seed=1", "base:k=2",
/// "od-equi-dyn:eta=0.5,m=4,seed=1", "matcha:budget=0.5,seed=1,graph=torus:4x4" (graph= comes
/// last), or any topology: the schedule of period 1. Throws std::invalid_argument with what is
/// wrong.
ScheduleSpec parse_schedule(std::string_view text);
/// The inverse of parse_schedule.
std::string to_string(const ScheduleSpec& spec);

/// Throws std::invalid_argument when it is impossible on n peers.
std::unique_ptr<MixingSchedule> make_schedule(const ScheduleSpec& spec, PeerId n);

}  // namespace gv
