#include "peer/study/predict/calibrate/local_calibration.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace gv {
namespace {

constexpr double reach = 0.05;  ///< length of second differences, a typical distance of peers
constexpr int memories = 7;     ///< 1/4, 1, 4, .. of 1 / L

double norm(const Doubles& v) {
  return std::sqrt(dot(v, v));
}

Doubles scaled(double factor, const Doubles& v) {
  Doubles result(v.size());
  add_scaled(result, factor, v);
  return result;
}

class DriftFinder {
 public:
  DriftFinder(const DisplacedGradients& gradients,
              const LeadingPairs& leading,
              const std::vector<Doubles>& adjoints)
      : gradients_(gradients),
        leading_(leading),
        adjoints_(adjoints),
        size_(adjoints.front().size()),
        here_(size_) {
    drift_.adjoints = adjoints.size();
    const Doubles still(size_);
    for (std::size_t i = 0; i < gradients_.peers; ++i)
      add_floats(here_, 1 / count(), gradients_.at(i, still));
  }

  Drift run(std::vector<Doubles> deviations, const std::vector<Doubles>& others, double age) {
    for (const Doubles& u : leading_.vectors) drift_.sources.push_back(along(u, deviations));
    add_lasting(deviations, age);
    for (Doubles& d : deviations) project_out(d, leading_.vectors);
    drift_.sources.push_back(beyond(deviations, others));
    return std::move(drift_);
  }

 private:
  double count() const { return static_cast<double>(gradients_.peers); }

  std::vector<double> seen(const Doubles& push) const {
    std::vector<double> result;
    for (const Doubles& adjoint : adjoints_) result.push_back(dot(adjoint, push));
    return result;
  }

  Drift::Source along(const Doubles& u, const std::vector<Doubles>& deviations) {
    Doubles first(size_);
    Doubles second = scaled(-1 / (reach * reach), here_);
    for (const double side : {1.0, -1.0}) {
      const Doubles offset = scaled(side * reach, u);
      for (std::size_t i = 0; i < gradients_.peers; ++i) {
        const std::vector<float>& g = gradients_.at(i, offset);
        add_floats(first, side / (2 * reach * count()) * dot(u, deviations[i]), g);
        add_floats(second, 1 / (2 * reach * reach * count()), g);
      }
    }
    return {seen(first), seen(second)};
  }

  void add_lasting(const std::vector<Doubles>& deviations, double age) {
    double l = 0;
    for (const double h : leading_.values) l = std::max(l, h);
    if (l == 0 || age == 0) return;
    const double rest = curvature_beyond(deviations);
    for (double memory = 0.25 / l; drift_.lasting.size() < memories; memory *= 4) {
      const auto answer = [&](double h) {
        const double r = std::max(0.0, h) + 1 / memory;
        return -std::expm1(-r * age) / r;
      };
      Doubles odd(size_);
      Doubles even = scaled(-1, here_);
      for (std::size_t i = 0; i < gradients_.peers; ++i) {
        const Doubles& d = deviations[i];
        Doubles offset = scaled(-answer(rest), d);
        for (std::size_t k = 0; k < leading_.values.size(); ++k)
          add_scaled(offset,
                     (answer(rest) - answer(leading_.values[k])) * dot(leading_.vectors[k], d),
                     leading_.vectors[k]);
        for (const double side : {1.0, -1.0}) {
          const std::vector<float>& g = gradients_.at(i, scaled(side, offset));
          add_floats(odd, side / (2 * count()), g);
          add_floats(even, 1 / (2 * count()), g);
        }
      }
      drift_.lasting.push_back({memory, seen(odd), seen(even)});
    }
  }

  /// Returns the mean curvature of the deviations outside the leading axes.
  double curvature_beyond(const std::vector<Doubles>& deviations) const {
    Doubles mixture(size_);
    for (std::size_t i = 0; i < deviations.size(); ++i)
      add_scaled(mixture, i % 2 == 0 ? 1 : -1, deviations[i]);
    project_out(mixture, leading_.vectors);
    const double square = dot(mixture, mixture);
    return square > 0 ? dot(mixture, curvature_product(gradients_, mixture)) / square : 0;
  }

  Drift::Source beyond(const std::vector<Doubles>& deviations, const std::vector<Doubles>& others) {
    Doubles first(size_);
    for (std::size_t i = 0; i < gradients_.peers; ++i) {
      const double length = norm(deviations[i]);
      if (length == 0) continue;
      for (const double side : {1.0, -1.0})
        add_floats(first, side * length / (2 * reach * count()),
                   gradients_.at(i, scaled(side * reach / length, deviations[i])));
    }
    Doubles second(size_);
    for (const Doubles& v : others) {
      const double length = norm(v);
      if (length == 0) continue;
      const double weight = 1 / (reach * reach * static_cast<double>(others.size()));
      add_scaled(second, -weight, here_);
      for (const double side : {1.0, -1.0})
        for (std::size_t i = 0; i < gradients_.peers; ++i)
          add_floats(second, weight / (2 * count()),
                     gradients_.at(i, scaled(side * reach / length, v)));
    }
    return {seen(first), seen(second)};
  }

  const DisplacedGradients& gradients_;
  const LeadingPairs& leading_;
  const std::vector<Doubles>& adjoints_;
  std::size_t size_;
  Doubles here_;  ///< mean gradient on the samples of `gradients_`
  Drift drift_;
};

constexpr double tolerance = 0.01;  ///< for leading pairs, relative to L

void check(PeerObjectives peers, const CalibrationOptions& o) {
  if (peers.empty()) throw std::invalid_argument("calibrate: no peers");
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::uint32_t samples = peers[i]->samples();
    if (samples > 0 && o.batch >= samples) {
      throw std::invalid_argument("calibrate: minibatches of " + std::to_string(o.batch) +
                                  " from the " + std::to_string(samples) + " samples of peer " +
                                  std::to_string(i) + " have no noise to measure: smaller ones");
    }
  }
}

class Calibrator {
 public:
  Calibrator(PeerObjectives peers, std::span<const float> x, const CalibrationOptions& o, Rng rng)
      : at_(peers, x, o.batch, o.draws, o.curvature_samples), o_(o), rng_(rng) {}

  Calibration run() {
    find_gradients();
    find_noise();
    find_leading();
    divide_noise();
    if (n() > 1) {
      find_apart();
      divide_deviations();
    }
    find_trace();
    return c_;
  }

 private:
  std::size_t dimension() const { return at_.size(); }
  std::size_t n() const { return at_.peers(); }
  double count() const { return static_cast<double>(n()); }
  double draws() const { return static_cast<double>(at_.draws()); }
  double all_draws() const { return draws() * count(); }
  double sign() { return (rng_.bits() & 1) != 0 ? 1 : -1; }

  void find_gradients() {
    mean_.assign(dimension(), 0);
    for (std::size_t i = 0; i < n(); ++i) {
      PeerGradients::Full full = at_.full(i);
      c_.loss += full.loss / count();
      add_scaled(mean_, 1 / count(), full.gradient);
      full_.push_back(std::move(full.gradient));
    }
    c_.epoch = at_.epoch();
    c_.gradient_square = dot(mean_, mean_);
  }

  /// Measures sigma^2, and mixtures of the noise with random signs, which are as good as Gaussian
  /// noise of covariance Sigma.
  void find_noise() {
    mixtures_.assign(o_.probes + 1, Doubles(dimension()));
    at_.each_draw(full_, [&](const Doubles& xi) {
      c_.noise += dot(xi, xi) / all_draws();
      for (Doubles& mixture : mixtures_) add_scaled(mixture, sign(), xi);
    });
  }

  SymmetricProduct deflated() {
    return [this](const Doubles& v) {
      Doubles image = at_.hessian_times(v);
      project_out(image, leading_.vectors);
      return image;
    };
  }

  Doubles random_signs() {
    Doubles v(dimension());
    for (double& value : v) value = sign();
    return v;
  }

  void find_leading() {
    Doubles start = random_signs();
    const double noise = std::sqrt(dot(mixtures_[0], mixtures_[0]));
    const double weight = noise > 0 ? 0.1 * noise / std::sqrt(static_cast<double>(dimension())) : 1;
    for (double& value : start) value *= weight;
    add_scaled(start, 1, mixtures_[0]);
    leading_ = leading_pairs([this](const Doubles& v) { return at_.hessian_times(v); },
                             std::move(start), o_.steps, tolerance);
    for (const double value : leading_.values) c_.curvature = std::max(c_.curvature, value);
  }

  /// Returns the curvatures of `starts` outside the leading axes; values sum to `total`.
  std::vector<CurvatureShare> remainder(std::vector<Doubles> starts, double total) {
    std::vector<CurvatureShare> parts;
    const auto m = static_cast<double>(starts.size());
    for (Doubles& start : starts) {
      project_out(start, leading_.vectors);
      const KrylovQuadrature q = krylov_quadrature(deflated(), std::move(start), o_.probe_steps);
      for (std::size_t k = 0; k < q.nodes.size(); ++k)
        parts.push_back({q.nodes[k], total * q.weights[k] / m});
    }
    return parts;
  }

  void divide_noise() {
    Doubles along(leading_.values.size());
    at_.each_draw(full_, [&](const Doubles& xi) {
      for (std::size_t k = 0; k < along.size(); ++k)
        along[k] += std::pow(dot(leading_.vectors[k], xi), 2) / all_draws();
    });
    rest_of_noise_ = c_.noise;
    for (std::size_t k = 0; k < along.size(); ++k) {
      c_.noise_parts.push_back({leading_.values[k], along[k]});
      rest_of_noise_ -= along[k];
    }
    rest_of_noise_ = std::max(0.0, rest_of_noise_);
    if (rest_of_noise_ > 1e-9 * c_.noise) {
      mixtures_.erase(mixtures_.begin());
      for (const CurvatureShare& part : remainder(mixtures_, rest_of_noise_))
        c_.noise_parts.push_back(part);
    } else {
      rest_of_noise_ = 0;
    }
    for (const CurvatureShare& part : c_.noise_parts)
      c_.noise_curvature += part.curvature * part.value;
  }

  /// Subtracts noise / draws for each gradient that is a mean of draws.
  void take_noise(std::vector<double>& gram, double noise) const {
    if (at_.exact()) return;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t j = 0; j < n(); ++j)
        gram[i * n() + j] -= noise / draws() * ((i == j ? 1 : 0) - 1 / count());
  }

  void add_deviation(std::vector<CurvatureShare> measure, std::vector<double> gram, double noise) {
    take_noise(gram, noise);
    for (std::size_t i = 0; i < n(); ++i) c_.spread += gram[i * n() + i] / count();
    c_.deviations.push_back({std::move(measure), std::move(gram)});
  }

  std::vector<double> gram_of(const std::vector<Doubles>& rows) const {
    std::vector<double> gram(n() * n());
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        gram[i * n() + j] = gram[j * n() + i] = dot(rows[i], rows[j]);
    return gram;
  }

  /// From here on full_ holds deviations.
  void find_apart() {
    for (Doubles& d : full_) add_scaled(d, -1, mean_);
    if (!at_.exact()) return;  // an oracle's peers share one Hessian
    for (Doubles& mixture : mixtures_) project_out(mixture, leading_.vectors);
    c_.drift = find_drift(at_.displaced(o_.drift_samples), leading_, o_.adjoints, full_, mixtures_,
                          o_.age);
  }

  void divide_deviations() {
    for (std::size_t k = 0; k < leading_.values.size(); ++k) {
      std::vector<Doubles> along;
      for (Doubles& d : full_) {
        along.push_back({dot(leading_.vectors[k], d)});
        add_scaled(d, -along.back()[0], leading_.vectors[k]);
      }
      add_deviation({{leading_.values[k], 1}}, gram_of(along), c_.noise_parts[k].value);
    }
    std::vector<Doubles> starts(std::max<std::size_t>(1, o_.probes), Doubles(dimension()));
    for (Doubles& start : starts)
      for (const Doubles& d : full_) add_scaled(start, sign(), d);
    std::vector<double> gram = gram_of(full_);
    double trace = 0;
    for (std::size_t i = 0; i < n(); ++i) trace += gram[i * n() + i];
    if (trace <= 1e-9 * c_.spread * count()) return;
    add_deviation(remainder(std::move(starts), 1), std::move(gram), rest_of_noise_);
  }

  void find_trace() {
    for (const double value : leading_.values) c_.trace += value;
    if (leading_.values.size() >= dimension()) return;
    const std::size_t probes = std::max<std::size_t>(1, o_.probes);
    for (std::size_t p = 0; p < probes; ++p) {
      Doubles v = random_signs();
      project_out(v, leading_.vectors);
      c_.trace += dot(v, at_.hessian_times(v)) / static_cast<double>(probes);
    }
  }

  PeerGradients at_;  ///< x
  CalibrationOptions o_;
  Rng rng_;
  Calibration c_;
  Doubles mean_;
  std::vector<Doubles> full_;  ///< the peers' gradients
  std::vector<Doubles> mixtures_;
  LeadingPairs leading_;
  double rest_of_noise_ = 0;
};

}  // namespace

Drift find_drift(const DisplacedGradients& gradients,
                 const LeadingPairs& leading,
                 const std::vector<Doubles>& adjoints,
                 std::vector<Doubles> deviations,
                 const std::vector<Doubles>& others,
                 double age) {
  if (adjoints.empty()) return {};
  return DriftFinder(gradients, leading, adjoints).run(std::move(deviations), others, age);
}

Calibration calibrate(PeerObjectives peers,
                      std::span<const float> x,
                      const CalibrationOptions& options,
                      Rng rng) {
  check(peers, options);
  return Calibrator(peers, x, options, rng).run();
}

double largest_curvature(PeerObjectives peers,
                         std::span<const float> x,
                         std::uint32_t samples,
                         Rng rng) {
  PeerGradients at(peers, x, 1, 0, samples);
  Doubles start(x.size());
  for (double& value : start) value = rng.normal();
  const KrylovQuadrature q = krylov_quadrature(
      [&](const Doubles& v) { return at.hessian_times(v); }, std::move(start), 12);
  return q.nodes.empty() ? 0 : std::ranges::max(q.nodes);
}

}  // namespace gv
