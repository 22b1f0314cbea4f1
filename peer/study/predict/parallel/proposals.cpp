#include "peer/study/predict/parallel/proposals.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/check.h"
#include "optim/models/network_cut.h"

namespace gv {
namespace {

constexpr std::size_t cuts_tried = 8;
constexpr std::size_t proposals_kept = 3;
/// Enough microbatches that only the slowest stage or crossing counts.
constexpr std::uint32_t endless = 1000;
constexpr double near_ahead = 1.02;   ///< within this factor the smaller `ahead` is chosen
constexpr double as_good = 1 / 1.05;  ///< a simpler way within this factor of a pipeline is advised

/// A strategy with the seconds per minibatch by the timetable.
struct Sketch {
  Strategy strategy;
  double seconds = 0;
};

/// Chooses the fastest way, or the simpler one if it is about as fast.
void decide(ParallelAdvice& advice) {
  using Way = ParallelAdvice::Way;
  const auto rate = [](const std::vector<ParallelProposal>& all) {
    double best = 0;
    for (const ParallelProposal& p : all) best = std::max(best, p.samples_per_second);
    return best;
  };
  const double pipeline = rate(advice.proposals);
  const double copies = rate(advice.data_parallel);
  const double alone = advice.alone.samples_per_second;
  advice.way = Way::pipeline;
  if (copies >= as_good * std::max(pipeline, alone))
    advice.way = Way::data_parallel;
  else if (alone >= as_good * pipeline)
    advice.way = Way::alone;
  advice.why = fmt::format(
      "samples a second: {:.4g} in a pipeline, {:.4g} with a model for each peer, {:.4g} on the "
      "fastest alone",
      pipeline, copies, alone);
}

class Planner {
 public:
  explicit Planner(const StrategyCosts& costs)
      : costs_(costs), fleet_(costs.fleet()), n_(costs.peers()), batch_(costs.batch()) {
    if (!fleet_.fleet.parallel) return;
    flush_ = fleet_.fleet.parallel->schedule == ParallelSpec::Schedule::flush;
    vertical_sync_ = fleet_.fleet.parallel->vertical_sync;
  }

  ParallelAdvice advise() {
    ParallelAdvice advice;
    // If a message takes longer than faults.deadline, its chain ends in its first round.
    for (const Sketch& sketch : best_sketches())
      if (ParallelProposal p = costs_.proposal(sketch.strategy, batch_); p.seconds_per_round > 0)
        advice.proposals.push_back(std::move(p));
    std::ranges::sort(advice.proposals, std::ranges::greater{},
                      &ParallelProposal::samples_per_second);
    advice.alone = alone();
    if (n_ > 1) {
      advice.data_parallel.push_back(copies(batch_));
      if (batch_ % n_ == 0 && batch_ > n_) advice.data_parallel.push_back(copies(batch_ / n_));
    }
    advice.batch_to_hide = batch_to_hide();
    decide(advice);
    return advice;
  }

 private:
  /// Returns the strategy with the smallest `ahead` within two percent of the fastest.
  std::optional<Sketch> best_ahead(const Strategy& cut) const {
    if (!flush_) return timed(cut);
    std::optional<Sketch> best;
    for (const std::uint32_t ahead : {1U, 2U, ParallelSpec::all}) {
      Strategy d = cut;
      d.ahead = ahead;
      const std::optional<Sketch> s = timed(d);
      if (s && (!best || s->seconds * near_ahead < best->seconds)) best = s;
    }
    return best;
  }

  std::optional<Sketch> timed(const Strategy& d) const {
    const std::optional<Strategy> fits = costs_.fitting(d);
    if (!fits) return std::nullopt;
    return Sketch{*fits, costs_.chain_seconds(*fits)};
  }

  std::optional<Sketch> best_of(PeerId stages, std::uint32_t microbatches) const {
    const std::uint32_t rows = batch_ / microbatches;
    const ModelProfile& profile = costs_.profile();
    PartitionProblem problem;
    problem.microbatches = flush_ ? microbatches : endless;
    for (std::size_t k = 0; k < costs_.pieces(); ++k) {
      const double add =
          microbatches > 1 ? static_cast<double>(profile.pieces[k].parameters) * profile.add_seconds
                           : 0;
      problem.seconds.push_back(profile.forward(k, rows) + profile.backward(k, rows) + add);
      if (k + 1 < costs_.pieces()) problem.crossing.push_back(costs_.crossing(k, rows, stages));
    }
    for (PeerId k = 0; k < stages; ++k) problem.speeds.push_back(fleet_.fleet.peers[k].speed);
    std::optional<Sketch> best;
    for (const StageEnds& cut : best_partitions(problem, cuts_tried)) {
      const std::optional<Sketch> s = best_ahead({.stages = stages,
                                                  .microbatches = microbatches,
                                                  .flush = flush_,
                                                  .vertical_sync = vertical_sync_,
                                                  .ends = cut.ends,
                                                  .place = costs_.as_numbered()});
      if (s && (!best || s->seconds < best->seconds)) best = s;
    }
    return best;
  }

  /// Finds the best number of microbatches for each number of stages.
  std::vector<Sketch> best_sketches() const {
    std::vector<Sketch> all;
    for (PeerId stages = 2; stages <= std::min<std::size_t>(n_, costs_.pieces()); ++stages) {
      if (n_ % stages != 0) continue;
      std::optional<Sketch> best;
      const std::uint32_t most = flush_ ? batch_ : 1;
      for (std::uint32_t m = 1; m <= most; ++m) {
        if (batch_ % m != 0) continue;
        const std::optional<Sketch> s = best_of(stages, m);
        if (s && (!best || s->seconds < best->seconds)) best = s;
      }
      if (best) all.push_back(*best);
    }
    const auto rate = [this](const Sketch& s) { return s.strategy.chains() * batch_ / s.seconds; };
    std::ranges::sort(all, std::ranges::greater{}, rate);
    if (all.size() > proposals_kept) all.resize(proposals_kept);
    return all;
  }

  /// Proposes a whole model for each peer.
  ParallelProposal copies(std::uint32_t batch) const {
    return costs_.proposal({.place = costs_.as_numbered()}, batch);
  }

  ParallelProposal alone() const {
    const auto fastest = std::ranges::max_element(
        fleet_.fleet.peers.begin(), fleet_.fleet.peers.begin() + n_, {}, &PeerSpec::speed);
    const Strategy whole{.place = {static_cast<PeerId>(fastest - fleet_.fleet.peers.begin())}};
    ParallelProposal p;
    p.stages = costs_.names(whole);
    p.place = whole.place;
    p.batch = batch_;
    const double step = static_cast<double>(fleet_.dimension) * costs_.profile().step_seconds;
    p.seconds_per_round = (gradient_seconds() + step) / fastest->speed;
    p.samples_per_second = batch_ / p.seconds_per_round;
    p.memory_bytes = costs_.memory(whole);
    p.bottleneck = "the gradient";
    return p;
  }

  /// Returns the seconds of a minibatch on a peer of speed 1.
  double gradient_seconds() const {
    return costs_.forward(0, costs_.pieces(), batch_) + costs_.backward(0, costs_.pieces(), batch_);
  }

  /// Returns the number of samples whose gradient takes as long as averaging in order lian.
  double batch_to_hide() const {
    const double bandwidth = fleet_.fleet.network.nic_bandwidth(0);
    if (bandwidth <= 0 || n_ < 2) return 0;
    double degree = 0;
    for (const auto& list : fleet_.topology.neighbors)
      degree = std::max(degree, static_cast<double>(list.size()));
    const double rate = batch_ / gradient_seconds();
    return degree * 4 * static_cast<double>(fleet_.dimension) * rate / bandwidth;
  }

  const StrategyCosts& costs_;
  const Assembly& fleet_;
  PeerId n_;
  std::uint32_t batch_;
  bool flush_ = true;
  bool vertical_sync_ = false;
};

constexpr double infinite = std::numeric_limits<double>::infinity();

class Proposing {
 public:
  explicit Proposing(const PartitionProblem& problem) : problem_(problem) {
    GV_CHECK_EQUAL(problem.crossing.size() + 1, problem.seconds.size(), "values behind each piece");
    before_.resize(problem.seconds.size() + 1);
    for (std::size_t k = 0; k < problem.seconds.size(); ++k)
      before_[k + 1] = before_[k] + problem.seconds[k];
  }

  /// Returns the seconds of pieces [first, end) at stage s.
  double stage(std::size_t s, std::size_t first, std::size_t end) const {
    return (before_[end] - before_[first]) / problem_.speeds[s];
  }

  /// Returns the possible times of the slowest stage or crossing, ascending.
  std::vector<double> bounds() const {
    std::vector<double> all = problem_.crossing;
    for (std::size_t s = 0; s < problem_.speeds.size(); ++s)
      for (std::size_t first = 0; first < problem_.seconds.size(); ++first)
        for (std::size_t end = first + 1; end <= problem_.seconds.size(); ++end)
          all.push_back(stage(s, first, end));
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  /// Returns the fastest division for a microbatch in which no stage or crossing exceeds `bound`.
  std::optional<std::vector<std::size_t>> shortest(double bound) const {
    const std::size_t n = problem_.seconds.size();
    const std::size_t p = problem_.speeds.size();
    std::vector<double> least(n + 1, infinite);
    std::vector<std::vector<std::size_t>> from(p, std::vector<std::size_t>(n + 1));
    least[0] = 0;
    for (std::size_t s = 0; s < p; ++s) {
      std::vector<double> next(n + 1, infinite);
      for (std::size_t end = s + 1; end <= n; ++end) {
        const bool crosses = end < n;
        if (crosses && problem_.crossing[end - 1] > bound) continue;
        const double way = crosses ? 2 * problem_.crossing[end - 1] : 0;
        for (std::size_t first = s; first < end; ++first) {
          const double takes = stage(s, first, end);
          if (takes > bound || least[first] + takes + way >= next[end]) continue;
          next[end] = least[first] + takes + way;
          from[s][end] = first;
        }
      }
      least = std::move(next);
    }
    if (least[n] == infinite) return std::nullopt;
    std::vector<std::size_t> ends(p - 1);
    std::size_t end = n;
    for (std::size_t s = p; s-- > 1;) ends[s - 1] = end = from[s][end];
    return ends;
  }

 private:
  const PartitionProblem& problem_;
  std::vector<double> before_;
};

}  // namespace

std::string name_of(ParallelAdvice::Way way) {
  switch (way) {
    case ParallelAdvice::Way::pipeline:
      return "pipeline";
    case ParallelAdvice::Way::data_parallel:
      return "data-parallel";
    case ParallelAdvice::Way::alone:
      return "alone";
  }
  return "";
}

void add_found(ParallelAdvice& advice, const ParallelProposal& found) {
  std::vector<ParallelProposal>& known =
      found.is_divided() ? advice.proposals : advice.data_parallel;
  if (!known.empty() && found.samples_per_second <= known.front().samples_per_second) return;
  known.insert(known.begin(), found);
  decide(advice);
}

ParallelAdvice advise_parallel(const StrategyCosts& costs) {
  return Planner(costs).advise();
}

double value_of(const PartitionProblem& problem, const std::vector<std::size_t>& ends) {
  const Proposing search(problem);
  double way = 0;
  double slowest = 0;
  std::size_t first = 0;
  for (std::size_t s = 0; s < problem.speeds.size(); ++s) {
    const std::size_t end = s < ends.size() ? ends[s] : problem.seconds.size();
    const double takes = search.stage(s, first, end);
    const double crossing = s < ends.size() ? problem.crossing[end - 1] : 0;
    way += takes + 2 * crossing;
    slowest = std::max({slowest, takes, crossing});
    first = end;
  }
  return way + (problem.microbatches - 1.0) * slowest;
}

std::vector<StageEnds> best_partitions(const PartitionProblem& problem, std::size_t most) {
  if (problem.speeds.size() > problem.seconds.size()) return {};
  const Proposing search(problem);
  std::vector<StageEnds> found;
  const auto by_value = [](const StageEnds& a, const StageEnds& b) { return a.value < b.value; };
  for (const double bound : search.bounds()) {
    const bool full = found.size() >= most;
    if (full && (problem.microbatches - 1.0) * bound > found.back().value) break;
    std::optional<std::vector<std::size_t>> ends = search.shortest(bound);
    if (!ends || std::ranges::find(found, *ends, &StageEnds::ends) != found.end()) continue;
    const double value = value_of(problem, *ends);
    found.push_back({std::move(*ends), value});
    std::ranges::stable_sort(found, by_value);
    if (found.size() > most) found.pop_back();
  }
  return found;
}

/// Forward passes take a third of a gradient's operations (gossip/chain.cpp).
ModelProfile counted_profile(const Assembly& fleet) {
  const NeuralNetwork network = make_network(fleet.fleet.model, *fleet.data.train);
  const std::vector<Cut> cuts = places(network);
  ModelProfile profile;
  profile.model = to_string(fleet.fleet.model);
  profile.rows = {1};
  profile.pieces = pieces_of(network);
  for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
    const double flops = part(network, cuts, k).network.gradient_flops(1);
    const double forward = flops / 3 / fleet.fleet.flops;
    profile.pieces[k].forward_seconds = {forward};
    profile.pieces[k].backward_seconds = {2 * forward};
  }
  profile.add_seconds = 1 / fleet.fleet.flops;
  profile.step_seconds = 2 / fleet.fleet.flops;
  return profile;
}

}  // namespace gv
