#include "peer/cli/mixing_figures.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/mixing/share_rate.h"
#include "graph/mixing/share_weights.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/spectrum/spectrum.h"

namespace gv::cli {
namespace {

MixingFigures of_matrix(const Assembly& fleet) {
  const Spectrum s = spectrum(*fleet.w, &fleet.fleet.topology, fleet.fleet.weights);
  return {.text = fmt::format("{}, {} weights: spectral gap {:.6g}, slem {:.6f}",
                              fleet.topology.name,
                              fleet.fleet.weights,
                              s.gap,
                              s.slem),
          .name = fleet.topology.name,
          .slem = s.slem,
          .gap = s.gap,
          .schedule = nullptr};
}

/// Tells how fast peers come together where no W is doubly stochastic, if it can be computed.
/// `what`: the eigenvalue that says so.
template <class Rate>
MixingFigures of_rate(const Assembly& fleet, const char* what, Rate rate_of) {
  MixingFigures figures{.text = fmt::format("{}, {}", fleet.topology.name, fleet.fleet.weights),
                        .name = fleet.topology.name,
                        .slem = std::numeric_limits<double>::quiet_NaN(),
                        .gap = std::numeric_limits<double>::quiet_NaN(),
                        .schedule = nullptr};
  try {
    figures.slem = rate_of();
    figures.gap = 1 - figures.slem;
    figures.text += fmt::format(": gap {:.6g}, {} {:.6f}", figures.gap, what, figures.slem);
  } catch (const std::invalid_argument&) {  // too large
  }
  return figures;
}

/// Rounds of a random schedule to look at: a row may take time in proportion to the peers.
int samples(const Assembly& fleet) {
  const double n = fleet.fleet.models();
  return static_cast<int>(std::clamp(1e8 / (n * n), 20.0, 4000.0));
}

}  // namespace

MixingFigures mixing_figures(const Assembly& fleet) {
  if (fleet.setup->push_sum)
    return of_rate(fleet, "|lambda_2(P)|", [&] { return push_sum(fleet.topology).rate; });
  if (!fleet.shares.empty())
    return of_rate(
        fleet, "|lambda_2(W)|", [&] { return share_rate(fleet.topology, fleet.shares); });
  if (!fleet.schedule) return of_matrix(fleet);
  const ScheduleRate rate = schedule_rate(*fleet.schedule, samples(fleet));
  const std::string period =
      rate.period > 0 ? fmt::format("period {}, product {:.6g}", rate.period, rate.product)
                      : fmt::format("random, kappa {:.6g} ({})", rate.kappa, rate.method);
  Json json{{"period", rate.period}, {"factor_per_round", rate.per_round}};
  rate.period > 0 ? json["product"] = rate.product : json["kappa"] = rate.kappa;
  json["method"] = rate.method;
  return {.text = fmt::format(
              "{}: {}, factor {:.6g} per round; up to {} neighbours in all",
              fleet.topology.name,
              period,
              rate.per_round,
              std::ranges::max(
                  fleet.topology.neighbors, {}, [](const auto& list) { return list.size(); })
                  .size()),
          .name = fleet.topology.name,
          .slem = rate.per_round,
          .gap = 1 - rate.per_round,
          .schedule = std::move(json)};
}

double mean_receivers(const Assembly& fleet, PeerId i) {
  if (!fleet.schedule) return static_cast<double>(fleet.neighborhood(i).receivers.size());
  const std::uint64_t period = fleet.schedule->period();
  const std::uint64_t rounds = period > 0 ? period : static_cast<std::uint64_t>(samples(fleet));
  double sum = 0;
  for (std::uint64_t k = 0; k < rounds; ++k)
    sum += static_cast<double>(fleet.schedule->row(k, fleet.chains.chain(i)).receivers.size());
  return sum / static_cast<double>(rounds);
}

}  // namespace gv::cli
