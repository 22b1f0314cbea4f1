#include <algorithm>
#include <cmath>

#include "peer/study/predict/calibrate/local_calibration.h"

namespace gv {
namespace {

constexpr double stretch = 5e-3;  ///< |e v| in (grad f(x + e v) - grad f(x - e v)) / 2 e

constexpr std::uint32_t most_at_once = 256;  ///< samples: LeNet-5 needs 150 KB each

std::vector<std::vector<std::byte>> streams_of(PeerObjectives peers) {
  std::vector<std::vector<std::byte>> streams;
  for (const auto& peer : peers) {
    StateWriter out;
    peer->save(out);
    streams.push_back(out.take());
  }
  return streams;
}

}  // namespace

double gradient_in_parts(Objective& f,
                         std::span<const float> x,
                         std::uint32_t samples,
                         std::span<float> g) {
  if (samples <= most_at_once) return f.value_and_gradient(x, samples, g);
  const std::uint32_t parts = (samples + most_at_once - 1) / most_at_once;
  Doubles sum(g.size());
  double loss = 0;
  for (std::uint32_t k = 0; k < parts; ++k) {
    const std::uint32_t part = samples / parts + (k < samples % parts ? 1 : 0);
    const double share = part / static_cast<double>(samples);
    loss += share * f.value_and_gradient(x, part, g);
    add_floats(sum, share, g);
  }
  std::ranges::transform(sum, g.begin(), [](double value) { return static_cast<float>(value); });
  return loss;
}

void add_floats(std::span<double> sum, double factor, std::span<const float> v) {
  for (std::size_t k = 0; k < v.size(); ++k) sum[k] += factor * static_cast<double>(v[k]);
}

Doubles curvature_product(const DisplacedGradients& gradients, const Doubles& v) {
  Doubles sum(v.size());
  const double length = std::sqrt(dot(v, v));
  if (length == 0) return sum;
  const double e = stretch / length;
  const double weight = 1 / (2 * e * static_cast<double>(gradients.peers));
  for (const double side : {1.0, -1.0}) {
    Doubles offset(v.size());
    add_scaled(offset, side * e, v);
    for (std::size_t i = 0; i < gradients.peers; ++i)
      add_floats(sum, side * weight, gradients.at(i, offset));
  }
  return sum;
}

PeerGradients::PeerGradients(PeerObjectives peers,
                             std::span<const float> x,
                             std::uint32_t batch,
                             std::size_t draws,
                             std::uint32_t curvature_samples)
    : peers_(peers),
      x_(x.begin(), x.end()),
      batch_(batch),
      draws_(std::max<std::size_t>(4, draws / peers.size())),
      curvature_samples_(curvature_samples),
      streams_(streams_of(peers)),
      g_(x.size()) {}

PeerGradients::~PeerGradients() {
  for (std::size_t i = 0; i < peers(); ++i) rewind(i);
}

void PeerGradients::rewind(std::size_t i) const {
  StateReader in(streams_[i]);
  peers_[i]->restore(in);
}

double PeerGradients::epoch() const {
  double sum = 0;
  for (const auto& peer : peers_)
    sum += static_cast<double>(peer->samples()) / batch_ / static_cast<double>(peers());
  return sum;
}

double PeerGradients::gradient(std::size_t i, std::uint32_t batch) {
  return gradient_in_parts(*peers_[i], x_, batch, g_);
}

PeerGradients::Full PeerGradients::full(std::size_t i) {
  Full full{.gradient = Doubles(size())};
  rewind(i);
  const std::uint32_t samples = peers_[i]->samples();
  const std::size_t times = samples == 0 ? draws_ : 1;
  for (std::size_t r = 0; r < times; ++r) {
    full.loss = gradient(i, samples == 0 ? batch_ : samples);
    add_floats(full.gradient, 1 / static_cast<double>(times), g_);
  }
  return full;
}

/// Returns the variance of b fresh samples relative to a minibatch of the share. Noise without
/// replacement is white noise of that variance minus its mean over an epoch.
double PeerGradients::freshness(std::size_t i) const {
  const double samples = peers_[i]->samples();
  const auto draws = static_cast<double>(draws_);
  return samples == 0 ? draws / (draws - 1) : samples / (samples - batch_);
}

void PeerGradients::each_draw(std::span<const Doubles> full,
                              const std::function<void(const Doubles&)>& use) {
  Doubles xi(size());
  for (std::size_t i = 0; i < peers(); ++i) {
    rewind(i);
    const double factor = std::sqrt(freshness(i));
    for (std::size_t r = 0; r < draws_; ++r) {
      gradient(i, batch_);
      for (std::size_t k = 0; k < xi.size(); ++k)
        xi[k] = factor * (static_cast<double>(g_[k]) - full[i][k]);
      use(xi);
    }
  }
}

DisplacedGradients PeerGradients::displaced(std::uint32_t samples) {
  return {peers(),
          [this, samples](std::size_t i, const Doubles& offset) -> const std::vector<float>& {
            const std::vector<float> here = x_;
            for (std::size_t k = 0; k < offset.size(); ++k) x_[k] += static_cast<float>(offset[k]);
            rewind(i);
            gradient(i, batch_of(i, samples));
            x_ = here;
            return g_;
          }};
}

std::uint32_t PeerGradients::batch_of(std::size_t i, std::uint32_t samples) const {
  const auto share = static_cast<std::uint32_t>(samples / peers());
  const std::uint32_t own = peers_[i]->samples();
  return std::max(1U, own == 0 ? share : std::min(share, own));
}

FrozenGradient::FrozenGradient(PeerObjectives peers, std::uint32_t samples)
    : peers_(peers), samples_(samples), streams_(streams_of(peers)) {}

FrozenGradient::~FrozenGradient() {
  rewind();
}

void FrozenGradient::rewind() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    StateReader in(streams_[i]);
    peers_[i]->restore(in);
  }
}

Doubles FrozenGradient::at(const std::vector<float>& x) {
  rewind();
  Doubles sum(x.size());
  std::vector<float> g(x.size());
  for (const auto& peer : peers_) {
    gradient_in_parts(*peer, x, std::min(samples_, peer->samples()), g);
    add_floats(sum, 1 / static_cast<double>(peers_.size()), g);
  }
  return sum;
}

double mean_gradient(PeerObjectives peers,
                     std::span<const float> x,
                     std::uint32_t batch,
                     std::span<double> g) {
  std::ranges::fill(g, 0.0);
  std::vector<float> one(x.size());
  const auto n = static_cast<double>(peers.size());
  double loss = 0;
  for (const auto& peer : peers) {
    loss += gradient_in_parts(*peer, x, batch, one) / n;
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += static_cast<double>(one[k]) / n;
  }
  return loss;
}

}  // namespace gv
