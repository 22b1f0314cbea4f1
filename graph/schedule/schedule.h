#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "graph/mixing/mixing.h"
#include "graph/spectrum/modes.h"
#include "graph/topology/family.h"
#include "graph/topology/topology.h"

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
  /// The peers with which i must be connected: all that occur in row i of some round, with weights
  /// 0. By default these are the peers of one period, or everyone if there is no period.
  virtual Neighborhood links(PeerId i) const;
  /// W_{round + period} = W_round; 0: random, without a period.
  virtual std::uint64_t period() const = 0;
  /// Returns ||E[W^T W] - J||_2 of a random schedule if it has a formula: the expected squared
  /// disagreement shrinks at least by this factor in each round.
  virtual std::optional<double> contraction() const { return std::nullopt; }
  /// Returns how far the true value may exceed contraction(); 0 if the latter is exact.
  virtual double contraction_error() const { return 0; }

  /// W_round, put together from its rows, and checked to be doubly stochastic.
  MixingMatrix matrix(std::uint64_t round) const;
  /// The graph of all links.
  Topology topology(std::string name) const;
};

// Peers that hold parts of a model average with the holders of the same part of another one; a
// map of the chains identifies them.

/// Returns a row of W among models as a row among peers: for each model the peer that holds the
/// same part as peer i. The order is that of the models, so that sums have the same bits.
Neighborhood among_copies(Neighborhood row, const ChainMap& chains, PeerId i);

/// A schedule of models, for peers that hold parts of models.
class CopiesSchedule final : public MixingSchedule {
 public:
  CopiesSchedule(std::shared_ptr<const MixingSchedule> models, ChainMap chains)
      : models_(std::move(models)), chains_(std::move(chains)) {}

  PeerId size() const override { return models_->size() * chains_.peers(); }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    return among_copies(models_->row(round, chains_.chain(i)), chains_, i);
  }
  bool directed() const override { return models_->directed(); }
  Neighborhood links(PeerId i) const override {
    return among_copies(models_->links(chains_.chain(i)), chains_, i);
  }
  std::uint64_t period() const override { return models_->period(); }
  std::optional<double> contraction() const override { return models_->contraction(); }
  double contraction_error() const override { return models_->contraction_error(); }

 private:
  std::shared_ptr<const MixingSchedule> models_;
  ChainMap chains_;
};

struct ScheduleSpec;

/// A family of schedules: one constant, in the file that makes it. graph/CMakeLists.txt lists all.
struct ScheduleFamily {
  std::string_view name;     ///< "base"
  std::string_view summary;  ///< one line, with the source
  std::span<const GraphParameter> parameters = {};
  std::string_view example = {};  ///< parameters with which it can be made for 16 peers
  /// Throws std::invalid_argument if the schedule is impossible.
  std::unique_ptr<MixingSchedule> (*make)(const ScheduleSpec& spec, PeerId n) = nullptr;
  /// Returns the modes for the per-mode theory, for any number of peers. Null or empty if its
  /// matrices share no modes, or if they would take too long.
  std::optional<Modes> (*modes)(const ScheduleSpec& spec, PeerId n) = nullptr;
  /// Returns the candidates of `graph best --schedules`. Null if there are none.
  SearchGroups (*searched)(const SearchScope& scope) = nullptr;
};

/// A schedule by family and parameters, or a static graph, before the number of peers is known.
struct ScheduleSpec {
  const ScheduleFamily* family = nullptr;  ///< null for a static graph, the schedule of period 1
  GraphParameters parameters;
  TopologySpec topology;               ///< a static graph's, or a family's parameter `graph`
  std::string weights = "metropolis";  ///< a static graph's

  bool is_static() const { return family == nullptr; }
  /// The topology and, with it, the text of the parameter `graph`.
  void set_graph(TopologySpec graph);
};

/// The inverse of parse_schedule (graph/schedules.h).
std::string to_string(const ScheduleSpec& spec);

/// Returns the modes of a schedule's family; none for a static graph, or if the family has none:
/// see SequenceWalk for those.
std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n);

/// A list of matrices, repeated; a single matrix is a static topology.
class PeriodicSchedule final : public MixingSchedule {
 public:
  /// Takes at least one matrix, all of one size.
  explicit PeriodicSchedule(std::vector<MixingMatrix> matrices) : matrices_(std::move(matrices)) {}

  PeerId size() const override { return matrices_[0].size(); }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    return matrices_[round % matrices_.size()].row(i);
  }
  bool directed() const override { return matrices_[0].directed(); }
  std::uint64_t period() const override { return matrices_.size(); }

 private:
  std::vector<MixingMatrix> matrices_;
};

/// Returns how many rounds the others can complete, from `round` on, before peer i begins `round`,
/// at most `limit`. A peer completes a round when it has received from all of its row. So the
/// result is the number of rounds until the last peer comes to depend on i, that round excluded
/// (the light cone of Lamport's happened-before relation, Lamport 1978, "Time, clocks, and the
/// ordering of events in a distributed system").
std::uint64_t longest_lead(const MixingSchedule& schedule,
                           std::uint64_t round,
                           PeerId i,
                           std::uint64_t limit = 10'000);

}  // namespace gv
