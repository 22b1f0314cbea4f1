#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/matrix_file.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/predict/rates/stable_rates.h"
#include "graph/predict/sequence.h"
#include "graph/predict/transient.h"
#include "graph/schedule/schedule.h"
#include "graph/schedules.h"
#include "graph/spec/parameters.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/cli/command.h"
#include "peer/study/predict/forecast/forecast.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv::cli {
namespace {

using Centers = std::vector<std::vector<double>>;

struct PredictOptions {
  std::string topology = "ring";
  PeerId peers = 0;
  std::string weights = "metropolis";
  std::string spread;  ///< a variance or a file
  QuadraticFleet fleet;
  bool json = false;
};

/// Reads rows of numbers in the format of graph/formats/matrix_file.h.
Centers read_centers(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw std::invalid_argument("--spread: `" + path +
                                "` is neither a variance nor a file that can be opened");
  }
  Centers centers;
  for (NumberRow& row : read_number_rows(path)) centers.push_back(std::move(row.values));
  return centers;
}

/// Reads --spread: sets a number in the fleet, returns the rows of a file.
Centers spread_of(PredictOptions& o) {
  if (o.spread.empty()) return {};
  const auto number = as_number<double>(o.spread);
  o.fleet.spread = number.value_or(0);
  return number ? Centers{} : read_centers(o.spread);
}

/// Returns the self weight, which staleness requires to be equal for all.
double common_self_weight(const MixingMatrix& w) {
  for (PeerId i = 1; i < w.size(); ++i) {
    if (std::abs(w.row(i).self - w.row(0).self) > 1e-12) {
      throw std::invalid_argument(
          fmt::format("--staleness: every peer must keep the same weight for itself, but peer 0 "
                      "keeps {:.4g} and peer {} {:.4g}; ring, torus and hypercube do",
                      w.row(0).self, i, w.row(i).self));
    }
  }
  return w.row(0).self;
}

struct Prediction {
  std::optional<Stationary> values;  ///< empty if it diverges, or is too much work
  std::optional<StableRates> rates;  ///< absent if unknown
  std::string method;
  std::string refusal;      ///< reason why no fleet can have this order on this graph, or ""
  bool lazy_helps = false;  ///< with lazy weights the stable rates begin at 0, and here they do not

  bool stable(double rate) const { return values || (rates && rates->contains(rate)); }
};

/// Explains missing values.
void explain_prediction(const Prediction& p, const PredictOptions& o) {
  const std::string what = fmt::format("order {} on {}", o.fleet.order, o.topology);
  if (p.stable(o.fleet.rate)) {
    fmt::print(stderr,
               "warning: {} is not followed to its end: rate {:g} is stable, but too many rounds "
               "pass until it settles; fewer --peers, or a shorter --hessian\n",
               what, o.fleet.rate);
  } else if (p.rates) {
    fmt::print(stderr, "warning: {}: it diverges{}\n",
               unstable_text(*p.rates, o.fleet.rate, " of " + what),
               p.lazy_helps ? "; `--weights lazy` is stable from 0 on" : "");
  } else {
    fmt::print(stderr,
               "warning: {} does not settle at rate {:g}: it diverges, or too many rounds pass "
               "until then\n",
               what, o.fleet.rate);
  }
}

/// Simulates rounds whose matrices have no modes in common.
Prediction follow(const MixingSchedule& rounds, const PredictOptions& o, const Centers& centers) {
  constexpr PeerId most = 512;
  if (o.peers > most) {
    throw std::invalid_argument(
        fmt::format("--peers: the rounds of {} are followed one by one, for {} peers at most",
                    o.topology, most));
  }
  if (!can_walk(o.fleet))
    throw std::invalid_argument("--order: only lian, atc or cta on " + o.topology);
  Prediction p{.values = std::nullopt,
               .rates = schedule_stable_rates(rounds, o.fleet),
               .method = "sequence",
               .refusal = ""};
  if (p.rates && !p.rates->contains(o.fleet.rate)) return p;
  p.values = settled_sequence(rounds, o.fleet);
  if (!p.values || centers.empty()) return p;
  const Stationary rest = rest_of_centers(rounds.matrix(0), o.fleet, centers);
  p.values->consensus.value += rest.consensus.value;
  p.values->excess_local.value += rest.excess_local.value;
  return p;
}

/// Predicts for one W in all rounds. `spec`: the topology, whose modes may have a formula.
Prediction predict_matrix(const MixingMatrix& w,
                          const TopologySpec* spec,
                          PredictOptions& o,
                          const Centers& centers) {
  if (o.fleet.staleness > 0) o.fleet.self_weight = common_self_weight(w);
  const bool closed = spec != nullptr && closed_form_modes(*spec, w.size(), o.weights);
  if (!closed && !is_normal(w)) return follow(PeriodicSchedule({w}), o, centers);
  const Modes modes = modes_of(w, spec, o.weights);
  return {.values = centers.empty() ? predict(modes, o.fleet)
                                    : predict_centers(w, modes, o.fleet, centers),
          .rates = stable_rates(modes, o.fleet),
          .method = modes.method,
          .refusal = refusal_of_order(o.fleet.order, w)};
}

/// Refuses graphs in parts without any connection, which would settle separately; no fleet runs so.
void require_connected_weights(Topology t, const MixingMatrix& w) {
  for (PeerId i = 0; i < t.size(); ++i)
    std::erase_if(t.neighbors[i], [&](PeerId j) {
      return w.row(i).weight_of(j) == 0 && w.row(j).weight_of(i) == 0;
    });
  require_connected(t);
}

/// Refuses schedules with such parts over all rounds together.
void require_connected_rounds(const MixingSchedule& schedule, const ScheduleSpec& spec) {
  constexpr PeerId most = 4096;
  if (schedule.size() > most) return;
  const std::string why = disconnection(schedule.topology(to_string(spec)));
  if (why.empty()) return;
  throw std::invalid_argument(
      why + (is_file(spec) ? "; the edges of all rounds together must connect all peers"
                           : "; another seed, or more shifts to draw from (m)"));
}

/// Predicts a schedule by its modes, or along its own sequence if its matrices share none.
Prediction predict_schedule(PredictOptions& o, const Centers& centers) {
  const ScheduleSpec spec = parse_schedule(o.topology);
  const auto schedule = make_schedule(spec, o.peers);
  require_connected_rounds(*schedule, spec);
  if (schedule->period() == 1) return predict_matrix(schedule->matrix(0), nullptr, o, centers);
  if (!centers.empty())
    throw std::invalid_argument("--spread: a schedule takes a variance, not a file");
  if (o.fleet.staleness > 0) throw std::invalid_argument("--staleness: not with a schedule");
  const std::optional<Modes> modes = schedule_modes(spec, o.peers);
  if (!modes || (modes->method == "expectation" && !has_transient(o.fleet)))
    return follow(*schedule, o, centers);
  return {.values = predict(*modes, o.fleet),
          .rates = stable_rates(*modes, o.fleet),
          .method = modes->method,
          .refusal = ""};
}

bool begins_at_0(const std::optional<StableRates>& rates) {
  return rates && !rates->windows.empty() && rates->windows.front().low == 0;
}

Prediction predict_fleet(PredictOptions& o) {
  const Centers centers = spread_of(o);
  if (is_schedule(o.topology)) return predict_schedule(o, centers);
  TopologySpec spec = parse_topology(o.topology);
  const Topology topology = build(spec, o.peers);
  const MixingMatrix w = mixing_matrix(o.weights, topology);
  require_connected_weights(topology, w);
  if (!spec.is_file()) spec = parse_topology(topology.name);  // with its shape
  Prediction p = predict_matrix(w, &spec, o, centers);
  if (p.rates && !begins_at_0(p.rates) && o.weights != "lazy" && !topology.directed) {
    const Modes lazy_modes = modes_of(lazy(topology), &spec, "lazy");
    p.lazy_helps = begins_at_0(stable_rates(lazy_modes, o.fleet));
  }
  return p;
}

void put(Json& out, const std::string& name, const std::optional<Estimate>& e) {
  out[name] = e ? Json(e->value) : Json(nullptr);
  if (e && e->error > 0) out[name + "_error"] = e->error;
}

void print_prediction_json(const PredictOptions& o, const Prediction& p) {
  const QuadraticFleet& f = o.fleet;
  Json out{{"schema", "grapevine.predict/1"},
           {"topology", o.topology},
           {"peers", o.peers},
           {"weights", o.weights},
           {"order", f.order},
           {"rate", f.rate},
           {"momentum", f.momentum},
           {"local_steps", f.local_steps},
           {"staleness", f.staleness},
           {"noise", f.noise},
           {"stable", p.stable(f.rate)}};
  out.update(to_json(p.rates));
  const auto part = [&](Estimate Stationary::*field) -> std::optional<Estimate> {
    if (!p.values) return std::nullopt;
    return (*p.values).*field;
  };
  put(out, "consensus", part(&Stationary::consensus));
  put(out, "excess_mean", part(&Stationary::excess_mean));
  put(out, "excess_local", part(&Stationary::excess_local));
  out["method"] = p.method;
  console::print(out);
}

/// Returns "0.03663", with its uncertainty if there is one.
std::string figure(const Estimate& e) {
  return e.error > 0 ? fmt::format("{:.4g} +- {:.1g}", e.value, e.error)
                     : fmt::format("{:.4g}", e.value);
}

void print_prediction_text(const PredictOptions& o, const Prediction& p) {
  fmt::print("{}, {} peers, order {}, rate {:.4g}, noise {:.4g} (found by {})\n", o.topology,
             o.peers, o.fleet.order, o.fleet.rate, o.fleet.noise, p.method);
  if (p.values) {
    fmt::print("consensus   {}  mean squared distance of a model to the mean model\n",
               figure(p.values->consensus));
    fmt::print("mean model  {}  excess loss\n", figure(p.values->excess_mean));
    fmt::print("local model {}  excess loss, on average\n", figure(p.values->excess_local));
  }
  if (p.rates) fmt::print("stable      at {}\n", to_text(*p.rates));
}

int run(const PredictOptions& options) {
  PredictOptions o = options;
  const Prediction p = predict_fleet(o);
  if (!p.values) explain_prediction(p, o);
  if (!p.refusal.empty()) fmt::print(stderr, "warning: no fleet can run this: {}\n", p.refusal);
  o.json ? print_prediction_json(o, p) : print_prediction_text(o, p);
  return exit_code::done;
}

void predict_options(Options& options, PredictOptions& o) {
  options.value("--topology", o.topology,
                "Topology NAME[:params] as in report, or a schedule as in schedule");
  options.value("--peers", o.peers, "Number of peers").range(2, 10'000'000).required();
  options.value("--weights", o.weights, "Rule for the mixing matrix, as in report").show_default();
  options.value("--order", o.fleet.order, fmt::format("{}", fmt::join(quadratic_orders(), " | ")))
      .show_default();
  options.list("--hessian", o.fleet.hessian,
               "Curvatures of the quadratic h1,h2,..., one per coordinate");
  options
      .value("--noise", o.fleet.noise, "Variance of a gradient, per coordinate: data.noise squared")
      .show_default();
  options.value("--rate", o.fleet.rate, "Learning rate").show_default();
  options.value("--momentum", o.fleet.momentum, "Momentum: u <- momentum u + g, x <- x - rate u");
  options.value("--consensus-step", o.fleet.consensus_step,
                "Consensus step size gamma of beer and motef, without a codec");
  options.value("--local-steps", o.fleet.local_steps, "Number of SGD steps per averaging");
  options.value("--staleness", o.fleet.staleness,
                "Age of the averaged neighbours' models, in rounds");
  options.value("--spread", o.spread,
                "Variance of the peers' minima, per coordinate: data.spread squared; or a file: a "
                "row of minima per "
                "peer");
  options.json(o.json);
}

}  // namespace

Command graph_predict_command() {
  return command(
      "predict",
      "Predict the loss at which D-PSGD, D2, EXTRA, NIDS and gradient tracking settle on a "
      "quadratic",
      "  grapevine graph predict --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1\n"
      "  grapevine graph predict --topology star --peers 16 --order atc --momentum 0.9 --spread "
      "1\n"
      "  grapevine graph predict --topology one-peer-exponential --peers 64 --order atc\n"
      "  grapevine graph predict --topology base:k=1 --peers 25 --spread 1",
      predict_options, run);
}

}  // namespace gv::cli
