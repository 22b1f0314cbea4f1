#include "optim/calibration.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "optim/drift.h"
#include "optim/krylov.h"

namespace gv {
namespace {

using Peers = std::span<const std::unique_ptr<Objective>>;

constexpr double tolerance = 0.01;  ///< of leading pairs, relative to L

void check(Peers peers, const CalibrationOptions& o) {
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

/// Puts the objectives' streams back to where they were.
class Rewinder {
 public:
  explicit Rewinder(Peers peers) : peers_(peers) {
    for (const auto& peer : peers) {
      StateWriter out;
      peer->save(out);
      states_.push_back(out.take());
    }
  }
  ~Rewinder() {
    for (std::size_t i = 0; i < peers_.size(); ++i) rewind(i);
  }
  Rewinder(const Rewinder&) = delete;
  Rewinder& operator=(const Rewinder&) = delete;

  void rewind(std::size_t i) const {
    StateReader in(states_[i]);
    peers_[i]->restore(in);
  }

 private:
  Peers peers_;
  std::vector<std::vector<std::byte>> states_;
};

class Calibrator {
 public:
  Calibrator(Peers peers, std::span<const float> x, const CalibrationOptions& o, Rng rng)
      : peers_(peers), x_(x.begin(), x.end()), o_(o), rng_(rng), streams_(peers), g_(x.size()) {}

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
  std::size_t n() const { return peers_.size(); }
  double count() const { return static_cast<double>(n()); }
  std::size_t draws_per_peer() const { return std::max<std::size_t>(4, o_.draws / n()); }
  double draws() const { return static_cast<double>(draws_per_peer()); }

  const std::vector<float>& gradient(std::size_t i, std::uint32_t batch) {
    loss_ = peers_[i]->value_and_gradient(x_, batch, g_);
    return g_;
  }

  static void add_floats(Doubles& sum, double factor, const std::vector<float>& v) {
    for (std::size_t k = 0; k < v.size(); ++k) sum[k] += factor * static_cast<double>(v[k]);
  }

  /// Of a whole share, with its loss; where there are no samples, the mean of some draws.
  Doubles full_gradient(std::size_t i) {
    Doubles sum(x_.size());
    streams_.rewind(i);
    const bool oracle = peers_[i]->samples() == 0;
    const std::size_t times = oracle ? draws_per_peer() : 1;
    for (std::size_t r = 0; r < times; ++r)
      add_floats(sum,
                 1 / static_cast<double>(times),
                 gradient(i, oracle ? o_.batch : peers_[i]->samples()));
    return sum;
  }

  void find_gradients() {
    mean_.assign(x_.size(), 0);
    for (std::size_t i = 0; i < n(); ++i) {
      full_.push_back(full_gradient(i));
      c_.loss += loss_ / count();
      add_scaled(mean_, 1 / count(), full_.back());
      c_.epoch += static_cast<double>(peers_[i]->samples()) / o_.batch / count();
    }
    c_.gradient_square = dot(mean_, mean_);
  }

  /// The variance of b fresh samples over that of a minibatch of the share: noise without
  /// replacement is white noise of that variance minus its mean over an epoch.
  double freshness(std::size_t i) const {
    const double samples = peers_[i]->samples();
    return samples == 0 ? draws() / (draws() - 1) : samples / (samples - o_.batch);
  }

  /// Calls use(xi) with the deviations of minibatch gradients from the full ones; each time the
  /// same ones.
  template <class Use>
  void each_draw(Use use) {
    Doubles xi(x_.size());
    for (std::size_t i = 0; i < n(); ++i) {
      streams_.rewind(i);
      const double factor = std::sqrt(freshness(i));
      for (std::size_t r = 0; r < draws_per_peer(); ++r) {
        const std::vector<float>& g = gradient(i, o_.batch);
        for (std::size_t k = 0; k < xi.size(); ++k)
          xi[k] = factor * (static_cast<double>(g[k]) - full_[i][k]);
        use(xi);
      }
    }
  }

  double sign() { return (rng_.bits() & 1) != 0 ? 1 : -1; }
  double all_draws() const { return draws() * count(); }

  /// sigma^2, and mixtures of the noise with random signs: as good as Gaussian noise of covariance
  /// Sigma.
  void find_noise() {
    mixtures_.assign(o_.probes + 1, Doubles(x_.size()));
    each_draw([&](const Doubles& xi) {
      c_.noise += dot(xi, xi) / all_draws();
      for (Doubles& mixture : mixtures_) add_scaled(mixture, sign(), xi);
    });
  }

  /// Of peer i at x + offset, over its frozen batch.
  const std::vector<float>& displaced_gradient(std::size_t i, const Doubles& offset) {
    const std::vector<float> here = x_;
    for (std::size_t k = 0; k < offset.size(); ++k) x_[k] += static_cast<float>(offset[k]);
    streams_.rewind(i);
    gradient(i, curvature_batch(i));
    x_ = here;
    return g_;
  }

  DisplacedGradients displaced() {
    return {n(), [this](std::size_t i, const Doubles& v) -> const std::vector<float>& {
              return displaced_gradient(i, v);
            }};
  }

  Doubles product(const Doubles& v) { return curvature_product(displaced(), v); }

  std::uint32_t curvature_batch(std::size_t i) const {
    const auto share = static_cast<std::uint32_t>(o_.curvature_samples / n());
    const std::uint32_t samples = peers_[i]->samples();
    return std::max(1U, samples == 0 ? share : std::min(share, samples));
  }

  SymmetricProduct deflated() {
    return [this](const Doubles& v) {
      Doubles image = product(v);
      project_out(image, leading_.vectors);
      return image;
    };
  }

  Doubles random_signs() {
    Doubles v(x_.size());
    for (double& value : v) value = sign();
    return v;
  }

  void find_leading() {
    Doubles start = random_signs();
    const double noise = std::sqrt(dot(mixtures_[0], mixtures_[0]));
    const double weight = noise > 0 ? 0.1 * noise / std::sqrt(static_cast<double>(x_.size())) : 1;
    for (double& value : start) value *= weight;
    add_scaled(start, 1, mixtures_[0]);
    leading_ = leading_pairs(
        [this](const Doubles& v) { return product(v); }, std::move(start), o_.steps, tolerance);
    for (const double value : leading_.values) c_.curvature = std::max(c_.curvature, value);
  }

  /// Where what is left of `starts` beyond the leading axes lies; values sum to `total`.
  std::vector<CurvaturePart> remainder(std::vector<Doubles> starts, double total) {
    std::vector<CurvaturePart> parts;
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
    each_draw([&](const Doubles& xi) {
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
      for (const CurvaturePart& part : remainder(mixtures_, rest_of_noise_))
        c_.noise_parts.push_back(part);
    } else {
      rest_of_noise_ = 0;
    }
    for (const CurvaturePart& part : c_.noise_parts)
      c_.noise_curvature += part.curvature * part.value;
  }

  /// Gradients that are means of draws carry noise / draws each.
  void take_noise(std::vector<double>& gram, double noise) const {
    if (peers_[0]->samples() > 0) return;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t j = 0; j < n(); ++j)
        gram[i * n() + j] -= noise / draws() * ((i == j ? 1 : 0) - 1 / count());
  }

  void add_deviation(std::vector<CurvaturePart> measure, std::vector<double> gram, double noise) {
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

  /// full_ holds deviations from here on.
  void find_apart() {
    for (Doubles& d : full_) add_scaled(d, -1, mean_);
    if (peers_[0]->samples() == 0) return;  // an oracle's peers share one Hessian
    for (Doubles& mixture : mixtures_) project_out(mixture, leading_.vectors);
    c_.drift = find_drift(displaced(), leading_, mean_, full_, mixtures_, o_.probe_steps, o_.age);
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
    std::vector<Doubles> starts(std::max<std::size_t>(1, o_.probes), Doubles(x_.size()));
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
    if (leading_.values.size() >= x_.size()) return;
    const std::size_t probes = std::max<std::size_t>(1, o_.probes);
    for (std::size_t p = 0; p < probes; ++p) {
      Doubles v = random_signs();
      project_out(v, leading_.vectors);
      c_.trace += dot(v, product(v)) / static_cast<double>(probes);
    }
  }

  Peers peers_;
  std::vector<float> x_;
  CalibrationOptions o_;
  Rng rng_;
  Rewinder streams_;
  std::vector<float> g_;
  double loss_ = 0;
  Calibration c_;
  Doubles mean_;
  std::vector<Doubles> full_;  ///< the peers' gradients
  std::vector<Doubles> mixtures_;
  LeadingPairs leading_;
  double rest_of_noise_ = 0;
};

}  // namespace

Calibration calibrate(std::span<const std::unique_ptr<Objective>> peers,
                      std::span<const float> x,
                      const CalibrationOptions& options,
                      Rng rng) {
  check(peers, options);
  return Calibrator(peers, x, options, rng).run();
}

double mean_gradient(std::span<const std::unique_ptr<Objective>> peers,
                     std::span<const float> x,
                     std::uint32_t batch,
                     std::span<double> g) {
  std::ranges::fill(g, 0.0);
  std::vector<float> one(x.size());
  const auto n = static_cast<double>(peers.size());
  double loss = 0;
  for (const auto& peer : peers) {
    loss += peer->value_and_gradient(x, batch, one) / n;
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += static_cast<double>(one[k]) / n;
  }
  return loss;
}

}  // namespace gv
