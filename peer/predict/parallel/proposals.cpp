#include "peer/predict/parallel/proposals.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "gossip/stage_versions.h"
#include "peer/predict/forecast/dry_run.h"
#include "peer/predict/parallel/partition.h"
#include "peer/predict/parallel/timetable.h"
#include "peer/wire/frame.h"

namespace gv {
namespace {

constexpr std::size_t cuts_tried = 8;
constexpr std::size_t proposals_kept = 3;
/// Of PipeDream, for each stage: so many that how the chain was filled tells little.
constexpr std::uint32_t minibatches_timed = 60;
/// The slowest stage or crossing alone decides where minibatches follow each other.
constexpr std::uint32_t endless = 1000;
constexpr double mostly = 0.75;       ///< of a round, and it is the bottleneck
constexpr double near = 1.02;         ///< of the best: the smaller `ahead` is taken
constexpr double as_good = 1 / 1.05;  ///< of a pipeline: the simpler way is advised

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

/// One way to divide the model, and what it takes by the timetable.
struct Sketch {
  PeerId stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;
  bool recompute = false;
  bool flush = true;
  bool vertical_sync = false;
  std::vector<std::size_t> ends{};
  double seconds = 0;  ///< of a minibatch, with its step
  double memory = 0;

  StagePlan stage(PeerId k) const {
    return {.stage = k,
            .stages = stages,
            .microbatches = microbatches,
            .ahead = ahead,
            .recompute = recompute,
            .flush = flush,
            .vertical_sync = vertical_sync};
  }
};

class Planner {
 public:
  Planner(const Assembly& fleet, std::shared_ptr<const ModelProfile> profile, double free_bytes)
      : fleet_(fleet),
        measured_(std::move(profile)),
        profile_(*measured_),
        n_(fleet.fleet.trainers()),
        batch_(fleet.fleet.peers.front().batch),
        free_(free_bytes) {
    if (!fleet.fleet.parallel) return;
    flush_ = fleet.fleet.parallel->schedule == ParallelSpec::Schedule::flush;
    vertical_sync_ = fleet.fleet.parallel->vertical_sync;
  }

  ParallelAdvice advise() {
    ParallelAdvice advice;
    // Where a message takes longer than faults.deadline, its chain ends before it has done a round.
    for (const Sketch& sketch : best_sketches())
      if (ParallelProposal p = in_full(sketch); p.seconds_per_round > 0)
        advice.proposals.push_back(std::move(p));
    std::ranges::sort(
        advice.proposals, std::ranges::greater{}, &ParallelProposal::samples_per_second);
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
  /// Seconds of pieces [first, end) on a peer of speed 1.
  double forward(std::size_t first, std::size_t end, std::uint32_t rows) const {
    double seconds = 0;
    for (std::size_t k = first; k < end; ++k) seconds += profile_.forward(k, rows);
    return seconds;
  }
  double backward(std::size_t first, std::size_t end, std::uint32_t rows) const {
    double seconds = 0;
    for (std::size_t k = first; k < end; ++k) seconds += profile_.backward(k, rows);
    return seconds;
  }
  std::size_t parameters(std::size_t first, std::size_t end) const {
    std::size_t sum = 0;
    for (std::size_t k = first; k < end; ++k) sum += profile_.pieces[k].parameters;
    return sum;
  }
  std::size_t slots(std::size_t first, std::size_t end) const {
    std::size_t sum = 0;
    for (std::size_t k = first; k < end; ++k) sum += profile_.pieces[k].slot_bytes;
    return sum;
  }
  std::size_t pieces() const { return profile_.pieces.size(); }
  std::size_t first_of(const Sketch& s, PeerId stage) const {
    return stage == 0 ? 0 : s.ends[stage - 1];
  }
  std::size_t end_of(const Sketch& s, PeerId stage) const {
    return stage + 1 == s.stages ? pieces() : s.ends[stage];
  }

  TimedHop hop(PeerId from, std::size_t piece, std::uint32_t rows) const {
    const NetworkSpec& network = fleet_.fleet.network;
    const LinkSpec link = network.link(from, from + 1);
    const std::size_t floats = rows * profile_.pieces[piece].floats;
    return {.ahead = frame_bytes(from, Kind::activation, floats),
            .back = frame_bytes(from + 1, Kind::activation_gradient, floats),
            .bandwidth = link.bandwidth,
            .latency = in_seconds(link.latency),
            .inside = link.inside};
  }

  /// One way across the slowest of the hops that this cut may lie on.
  double crossing(std::size_t piece, std::uint32_t rows, PeerId stages) const {
    double slowest = 0;
    for (PeerId i = 0; i + 1 < n_; ++i) {
      if ((i + 1) % stages == 0) continue;  // the next one begins another chain
      const TimedHop h = hop(i, piece, rows);
      const double card = h.inside ? 0 : fleet_.fleet.network.nic_bandwidth(i);
      double rate = h.bandwidth;
      if (card > 0) rate = rate > 0 ? std::min(rate, card) : card;
      slowest = std::max(slowest, h.latency + (rate > 0 ? h.ahead.others / rate : 0));
    }
    return slowest;
  }

  /// The slowest of its chains.
  double seconds_of(const Sketch& s) const {
    const std::uint32_t rows = batch_ / s.microbatches;
    double slowest = 0;
    for (PeerId chain = 0; chain < n_ / s.stages; ++chain) {
      std::vector<TimedStage> stages;
      std::vector<TimedHop> hops;
      for (PeerId k = 0; k < s.stages; ++k) {
        const PeerId peer = chain * s.stages + k;
        const std::size_t first = first_of(s, k);
        const std::size_t end = end_of(s, k);
        const double speed = fleet_.fleet.peers[peer].speed;
        const auto d = static_cast<double>(parameters(first, end));
        const StagePlan plan = s.stage(k);
        const bool adds = s.microbatches > 1 || kept_versions(plan) > 0;
        const double there = forward(first, end, rows);
        const double back = backward(first, end, rows) + (s.recompute ? there : 0) +
                            (adds ? d * profile_.add_seconds : 0);
        stages.push_back({.forward = there / speed,
                          .backward = back / speed,
                          .step = d * profile_.step_seconds / speed,
                          .window = window_of(plan, k),
                          .card = fleet_.fleet.network.nic_bandwidth(peer)});
        if (k + 1 < s.stages) hops.push_back(hop(peer, end - 1, rows));
      }
      const Timetable table = s.flush ? time_chain(stages, hops, s.microbatches)
                                      : time_stream(stages, hops, minibatches_timed * s.stages);
      slowest = std::max(slowest, table.round);
    }
    return slowest;
  }

  /// Of the stage that needs most.
  double memory_of(const Sketch& s) const {
    const double rows = batch_ / s.microbatches;
    double most = 0;
    for (PeerId k = 0; k < s.stages; ++k) {
      const std::size_t first = first_of(s, k);
      const std::size_t end = end_of(s, k);
      const StagePlan plan = s.stage(k);
      const double under_way = window_of(plan, k) + 1.0;
      const auto slot = static_cast<double>(slots(first, end));
      const double input =
          first == 0 ? 0 : 4.0 * static_cast<double>(profile_.pieces[first - 1].floats);
      const double kept = s.recompute ? slot + under_way * input : under_way * slot;
      const double x = 4 * static_cast<double>(parameters(first, end)) *
                       copies_of_x(fleet_.fleet.optimizer, plan);
      most = std::max(most, x + rows * kept);
    }
    return most;
  }

  void time(Sketch& s) const {
    s.seconds = seconds_of(s);
    s.memory = memory_of(s);
  }

  /// Where memory asks for it, computed once more on the way back. Nothing: it fits in no way.
  std::optional<Sketch> fitting(Sketch s) const {
    time(s);
    if (free_ == 0 || s.memory <= free_) return s;
    s.recompute = true;
    time(s);
    return s.memory <= free_ ? std::optional(s) : std::nullopt;
  }

  /// The fastest; of those within two percent of it the one that goes least far ahead.
  std::optional<Sketch> best_ahead(const Sketch& cut) const {
    if (!flush_) return fitting(cut);
    std::optional<Sketch> best;
    for (const std::uint32_t ahead : {1U, 2U, ParallelSpec::all}) {
      Sketch s = cut;
      s.ahead = ahead;
      const std::optional<Sketch> fits = fitting(s);
      if (fits && (!best || fits->seconds * near < best->seconds)) best = fits;
    }
    return best;
  }

  std::optional<Sketch> best_of(PeerId stages, std::uint32_t microbatches) const {
    const std::uint32_t rows = batch_ / microbatches;
    PartitionProblem problem;
    problem.microbatches = flush_ ? microbatches : endless;
    for (std::size_t k = 0; k < pieces(); ++k) {
      const double add = microbatches > 1 ? static_cast<double>(profile_.pieces[k].parameters) *
                                                profile_.add_seconds
                                          : 0;
      problem.seconds.push_back(profile_.forward(k, rows) + profile_.backward(k, rows) + add);
      if (k + 1 < pieces()) problem.crossing.push_back(crossing(k, rows, stages));
    }
    for (PeerId k = 0; k < stages; ++k) problem.speeds.push_back(fleet_.fleet.peers[k].speed);
    std::optional<Sketch> best;
    for (const StageEnds& cut : best_partitions(problem, cuts_tried)) {
      const std::optional<Sketch> s = best_ahead({.stages = stages,
                                                  .microbatches = microbatches,
                                                  .flush = flush_,
                                                  .vertical_sync = vertical_sync_,
                                                  .ends = cut.ends});
      if (s && (!best || s->seconds < best->seconds)) best = s;
    }
    return best;
  }

  /// Of each number of stages the best number of microbatches.
  std::vector<Sketch> best_sketches() const {
    std::vector<Sketch> all;
    for (PeerId stages = 2; stages <= std::min<std::size_t>(n_, pieces()); ++stages) {
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
    const auto rate = [this](const Sketch& s) { return (n_ / s.stages) * batch_ / s.seconds; };
    std::ranges::sort(all, std::ranges::greater{}, rate);
    if (all.size() > proposals_kept) all.resize(proposals_kept);
    return all;
  }

  std::vector<std::string> names_of(const Sketch& s) const {
    std::vector<std::string> names;
    for (PeerId k = 0; k < s.stages; ++k) names.push_back(profile_.pieces[first_of(s, k)].name);
    return names;
  }

  static ParallelSpec::Schedule schedule_of(const Sketch& s) {
    return s.flush ? ParallelSpec::Schedule::flush : ParallelSpec::Schedule::pipedream;
  }

  /// The fleet that would train so, with its own method, in virtual time.
  DryRun rounds_of(const Sketch& s, std::uint32_t batch) const {
    Fleet fleet = fleet_.fleet;
    fleet.peers.resize(n_);
    for (PeerSpec& peer : fleet.peers) peer.batch = batch;
    fleet.parallel = ParallelSpec{.stages = s.stages,
                                  .names = names_of(s),
                                  .microbatches = s.microbatches,
                                  .ahead = s.ahead,
                                  .recompute = s.recompute,
                                  .schedule = schedule_of(s),
                                  .vertical_sync = s.vertical_sync};
    fleet.profile = measured_;
    return dry_run(Assembly(std::move(fleet)), fleet_.fleet.network);
  }

  /// Seconds in which the peers compute in a round.
  struct Busy {
    double mean = 0, most = 0;
  };
  Busy busy_of(const Sketch& s, std::uint32_t batch) const {
    const std::uint32_t rows = batch / s.microbatches;
    Busy all;
    for (PeerId i = 0; i < n_; ++i) {
      const PeerId k = i % s.stages;
      const std::size_t first = first_of(s, k);
      const std::size_t end = end_of(s, k);
      const double once =
          forward(first, end, rows) * (s.recompute ? 2 : 1) + backward(first, end, rows);
      const double busy = s.microbatches * once / fleet_.fleet.peers[i].speed;
      all.mean += busy / n_;
      all.most = std::max(all.most, busy);
    }
    return all;
  }

  ParallelProposal full(const Sketch& s, std::uint32_t batch) const {
    const DryRun rounds = rounds_of(s, batch);
    ParallelProposal p;
    p.stages = names_of(s);
    p.place.resize(n_);
    std::iota(p.place.begin(), p.place.end(), PeerId{0});
    p.chains = n_ / s.stages;
    p.batch = batch;
    p.microbatches = s.microbatches;
    p.ahead = s.ahead;
    p.recompute = s.recompute;
    p.schedule = schedule_of(s);
    p.vertical_sync = s.vertical_sync;
    p.seconds_per_round = rounds.seconds_per_round;
    p.samples_per_second = p.chains * static_cast<double>(batch) / p.seconds_per_round;
    p.idle = 1 - busy_of(s, batch).mean / p.seconds_per_round;
    p.bytes_per_round = rounds.bytes_per_round;
    p.memory_bytes = s.memory;
    return p;
  }

  ParallelProposal in_full(const Sketch& s) const {
    ParallelProposal p = full(s, batch_);
    const double pipeline = s.seconds;
    if (busy_of(s, batch_).most > mostly * p.seconds_per_round)
      p.bottleneck = "the slowest stage";
    else if (p.seconds_per_round > 1.5 * pipeline)
      p.bottleneck = "averaging between the chains";
    else
      p.bottleneck = "the way from stage to stage";
    return p;
  }

  /// Every peer with a model of its own.
  ParallelProposal copies(std::uint32_t batch) const {
    Sketch whole{.stages = 1};
    whole.memory = memory_of(whole);
    ParallelProposal p = full(whole, batch);
    const bool computes = busy_of(whole, batch).most > mostly * p.seconds_per_round;
    p.bottleneck = computes ? "the gradient" : "averaging";
    return p;
  }

  ParallelProposal alone() const {
    const auto fastest = std::ranges::max_element(
        fleet_.fleet.peers.begin(), fleet_.fleet.peers.begin() + n_, {}, &PeerSpec::speed);
    Sketch whole{.stages = 1};
    ParallelProposal p;
    p.stages = names_of(whole);
    p.place = {static_cast<PeerId>(fastest - fleet_.fleet.peers.begin())};
    p.batch = batch_;
    const double step = static_cast<double>(fleet_.dimension) * profile_.step_seconds;
    p.seconds_per_round =
        (forward(0, pieces(), batch_) + backward(0, pieces(), batch_) + step) / fastest->speed;
    p.samples_per_second = batch_ / p.seconds_per_round;
    p.memory_bytes = memory_of(whole);
    p.bottleneck = "the gradient";
    return p;
  }

  /// Averaging of order lian takes as long as the gradient of so many samples.
  double batch_to_hide() const {
    const double bandwidth = fleet_.fleet.network.nic_bandwidth(0);
    if (bandwidth <= 0 || n_ < 2) return 0;
    double degree = 0;
    for (const auto& list : fleet_.topology.neighbors)
      degree = std::max(degree, static_cast<double>(list.size()));
    const double rate = batch_ / (forward(0, pieces(), batch_) + backward(0, pieces(), batch_));
    return degree * 4 * static_cast<double>(fleet_.dimension) * rate / bandwidth;
  }

  /// The fastest; where it is about as fast, the simpler one.
  static void decide(ParallelAdvice& advice) {
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
        pipeline,
        copies,
        alone);
  }

  const Assembly& fleet_;
  std::shared_ptr<const ModelProfile> measured_;
  const ModelProfile& profile_;
  PeerId n_;
  std::uint32_t batch_;
  double free_;  ///< bytes; 0: unknown
  bool flush_ = true;
  bool vertical_sync_ = false;
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

ParallelAdvice advise_parallel(const Assembly& fleet,
                               std::shared_ptr<const ModelProfile> profile,
                               double free_bytes) {
  return Planner(fleet, std::move(profile), free_bytes).advise();
}

}  // namespace gv
