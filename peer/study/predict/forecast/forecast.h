#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/expectation.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv {

/// The forecast of what a topology will do to a fleet. What nothing is known about is empty.
struct Forecast {
  std::string topology;      ///< or schedule; "all-reduce" for the ring of sums
  std::size_t degree = 0;    ///< most neighbours that a peer hears in a round
  std::uint64_t period = 1;  ///< of W; 0: random
  double slem = 0, gap = 1;  ///< of a schedule: the factor of a disagreement per round, 1 - it
  double rounds_to_thousandth = 1;       ///< of pure averaging; infinite when never
  std::optional<double> left_after_ten;  ///< of a random disagreement, after ten rounds
  std::optional<double> n_eff;           ///< at the discount 0.99
  double bytes_per_round = 0;            ///< sent by the busiest peer
  std::optional<double> consensus;       ///< (1/n) sum_i ||x_i - mean||^2 where it settles;
                                         ///< calibrated: at the end of the run
  std::optional<double> excess_mean;     ///< of the mean model's loss over the optimum;
                                         ///< calibrated: over descent without noise
  std::optional<double> excess_local;    ///< of the local models' losses, their mean
  /// Calibrated: what excess_mean is uncertain by, and of it the part of graph and order, which is
  /// what all-reduce would not have, with its own uncertainty.
  std::optional<double> excess_mean_error, graph_part, graph_part_error;
  std::vector<std::pair<std::string, double>> mean_parts;  ///< of excess_mean, to first order
  /// Calibrated: the largest rate x curvature of the run, where errors do not hold; empty: they do.
  std::optional<double> beyond;
  std::optional<double> rounds_to_target;   ///< of excess_local; infinite when never
  std::optional<StableRates> stable_rates;  ///< for this fleet's own graph only
  std::optional<double> seconds_per_round;  ///< by the alpha-beta model of the fleet's network

  /// The rate x L up to which the errors of calibrated losses were measured to hold
  /// (experiments/prediction).
  static constexpr double trusted = 0.3;

  /// Returns whether a value says more than that it is small: at least four times its uncertainty.
  static bool resolved(double value, double error) { return std::abs(value) >= 4 * error; }
  /// Returns nothing where one of the two factors is empty.
  std::optional<double> seconds_to_target() const;
};

/// This fleet's forecast, and those of other graphs on the same peers, best first.
struct FleetForecast {
  Forecast own;
  std::vector<Forecast> others;
  std::optional<Forecast> all_reduce;  ///< the same fleet with ring all-reduce
  /// The fleet with some keys set otherwise, under the calibration of this one.
  struct Beside {
    std::string sets;
    Forecast forecast;
  };
  std::vector<Beside> beside;
  std::optional<Forecast> choice;  ///< the first at the target in seconds, of all looked at
  std::size_t max_degree = 0;
  std::optional<double> target;  ///< of the excess loss of local models
  std::string basis;    ///< what the losses are means over, and of which samples; "": nothing known
  std::string advice;   ///< one line with its reason
  std::string warning;  ///< empty: none
  NetworkShape network_shape = NetworkShape::per_nic;  ///< on which the seconds depend
  bool calibrated = false;  ///< losses at the end of the run; target: of the training loss
};

/// Less local excess loss is better; where that is not known, a larger gap.
bool better(const Forecast& a, const Forecast& b);
/// Names the first at the target, keeps the best of the others, best first, and says what follows.
void advise(FleetForecast& forecast);

struct ForecastOptions {
  std::size_t max_degree = 0;  ///< of the alternatives; 0: this fleet's, 16 at most
  std::optional<double> target = std::nullopt;  ///< none: 1.1 times where this fleet settles
  bool schedules = true;  ///< graphs that change with the round are among the alternatives
};

/// Returns the forecast of a fleet that is all-reduce itself: a row without others.
FleetForecast forecast_of_all_reduce(const Assembly& fleet);
/// Returns that of a fleet that averages or sums: its own row alone. `bytes_per_round`: what its
/// busiest peer sends where it averages.
Forecast forecast_alone(const Assembly& fleet, double bytes_per_round);

/// `bytes_per_round`: what this fleet's busiest peer sends; the alternatives' follow from how many
/// it sends to. Empty where peers do not average over the topology (all-reduce, isolated).
std::optional<FleetForecast> forecast(const Assembly& fleet,
                                      double bytes_per_round,
                                      const ForecastOptions& options);

/// A graph or a schedule that a fleet averages over, or could.
struct Candidate {
  std::string name;
  std::shared_ptr<const MixingSchedule> rounds;  ///< period 1: one W for all rounds
  MixingLaw law;
  std::size_t degree = 0;    ///< most neighbours that a peer hears in a round
  double slem = 0, gap = 1;  ///< of a schedule: the factor of a disagreement per round, 1 - it
  double rounds_to_thousandth = 1;  ///< of pure averaging; infinite when never
};

/// The fleet's weights where any undirected graph can have them, else metropolis: those of the
/// other candidates.
std::string weights_for_all(const std::string& weights);

Candidate own_candidate(const Assembly& fleet);
/// Graphs of at most `max_degree` on the same peers, the ten that average fastest, then the
/// schedules of graph/schedules.h that need no parameters. The fleet's own is left out.
std::vector<Candidate> other_candidates(const Assembly& fleet, std::size_t max_degree);

/// One line: the graph to take, and why. Empty without alternatives.
std::string advice_of(const FleetForecast& f);
/// Warns of a rate that makes the fleet diverge; empty where it does not.
std::string warning_of(const QuadraticProblem& problem, const Forecast& own);
/// Does the same for a fleet that is about to start; empty too where nothing is known of it.
std::string rate_warning(const Assembly& fleet);

}  // namespace gv
