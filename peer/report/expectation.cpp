#include "peer/report/expectation.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/predict_transient.h"
#include "peer/report/quadratic_problem.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 1024;
constexpr double most_operations = 2e8;  ///< that following the fleet's own minima may take

/// Every coordinate by itself.
QuadraticFleet spelled_out(const QuadraticProblem& problem, const QuadraticSpec& spec) {
  QuadraticFleet f = problem.parts.front().fleet;
  f.hessian.clear();
  for (std::uint32_t k = 0; k < spec.dimension; ++k)
    f.hessian.push_back(spec.hessian[k % spec.hessian.size()]);
  return f;
}

double operations(const Assembly& fleet, Step rounds) {
  double links = 0;
  for (PeerId i = 0; i < fleet.w->size(); ++i)
    links += 1 + static_cast<double>(fleet.w->row(i).peers.size());
  return links * static_cast<double>(rounds) * static_cast<double>(fleet.dimension);
}

std::string line(const char* what, double measured, const Estimate& expected) {
  return fmt::format("\npredicted  {} {:.4g}, measured {:.4g}", what, expected.value, measured);
}

}  // namespace

std::optional<Stationary> expectation(const Assembly& fleet, const FleetRecord& record) {
  const std::optional<QuadraticProblem> problem = quadratic_problem(fleet);
  if (fleet.schedule || !problem || record.peers != fleet.fleet.size() || record.peers > most_peers)
    return std::nullopt;
  try {
    const Modes modes = modes_of(*fleet.w);
    const QuadraticSpec& spec = fleet.fleet.data.quadratic;
    const QuadraticFleet& first = problem->parts.front().fleet;
    if (!has_transient(modes, first)) return problem->settled(modes);
    if (operations(fleet, record.round) > most_operations)
      return problem->after(modes, record.round);
    const auto centers =
        quadratic_centers(spec, record.peers, Rng(fleet.fleet.seed).derive("quadratic"));
    return predict_after(
        *fleet.w, modes, spelled_out(*problem, spec), centers, spec.start, record.round);
  } catch (const std::invalid_argument&) {  // a directed W that has no orthogonal modes
    return std::nullopt;
  }
}

std::string expectation_text(const std::optional<Stationary>& expected, const FleetRecord& r) {
  if (!expected) return "";
  return line("consensus", r.consensus, expected->consensus) +
         line("loss of the mean model", r.mean.loss, expected->excess_mean) +
         line("mean loss of local models", r.loss_local, expected->excess_local);
}

std::string with_expectation(const std::string& summary,
                             const std::optional<Stationary>& expected) {
  if (!expected) return summary;
  auto json = nlohmann::ordered_json::parse(summary);
  const auto number = [](const Estimate& e) {
    return std::isfinite(e.value) ? nlohmann::ordered_json(e.value) : nlohmann::ordered_json();
  };
  json["predicted"] = {{"consensus", number(expected->consensus)},
                       {"excess_loss_mean", number(expected->excess_mean)},
                       {"excess_loss_local", number(expected->excess_local)}};
  return json.dump();
}

}  // namespace gv
