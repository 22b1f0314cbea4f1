#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "optim/models/objective.h"
#include "peer/study/predict/calibrate/krylov.h"

namespace gv {

/// f_i of each peer.
using PeerObjectives = std::span<const std::unique_ptr<Objective>>;

/// Returns the loss and gradient of f over its next `samples` samples, in parts of a few hundred,
/// because thousands at once take gigabytes. Equals value_and_gradient but for the last digits.
double gradient_in_parts(Objective& f,
                         std::span<const float> x,
                         std::uint32_t samples,
                         std::span<float> g);

/// sum <- sum + factor v.
void add_floats(std::span<double> sum, double factor, std::span<const float> v);

/// Peers' gradients near a point x.
struct DisplacedGradients {
  std::size_t peers = 0;
  /// Returns the gradient of peer i at x + offset, on the same samples each time.
  std::function<const std::vector<float>&(std::size_t i, const Doubles& offset)> at;
};

/// Returns H v for the mean of f_i at x, by central differences.
Doubles curvature_product(const DisplacedGradients& gradients, const Doubles& v);

/// Gradients of f = mean of the peers' f_i at one point x; the same ones in each call. An objective
/// without samples (the quadratic oracle) uses a mean of some draws as its full gradient.
class PeerGradients {
 public:
  /// `batch`: samples per draw. `draws` and `curvature_samples`: of all peers together. The peers
  /// must outlive this object, whose destructor restores their streams.
  PeerGradients(PeerObjectives peers,
                std::span<const float> x,
                std::uint32_t batch,
                std::size_t draws,
                std::uint32_t curvature_samples);

  ~PeerGradients();
  PeerGradients(const PeerGradients&) = delete;
  PeerGradients& operator=(const PeerGradients&) = delete;

  std::size_t size() const { return x_.size(); }                ///< d
  std::size_t peers() const { return peers_.size(); }           ///< n
  std::size_t draws() const { return draws_; }                  ///< draws per peer
  bool exact() const { return peers_.front()->samples() > 0; }  ///< full gradients are exact
  /// Returns minibatches per pass over a peer's samples, mean over peers; 0: always fresh.
  double epoch() const;

  struct Full {
    double loss = 0;
    Doubles gradient;
  };
  Full full(std::size_t i);

  /// Calls use(xi) with the deviations of minibatch gradients from `full[i]` times sqrt(freshness),
  /// so that they have the variance of fresh samples.
  void each_draw(std::span<const Doubles> full, const std::function<void(const Doubles&)>& use);

  /// Returns gradients over one frozen batch per peer; `samples`: of all peers together.
  DisplacedGradients displaced(std::uint32_t samples);
  Doubles hessian_times(const Doubles& v) {
    return curvature_product(displaced(curvature_samples_), v);
  }

 private:
  void rewind(std::size_t i) const;
  double gradient(std::size_t i, std::uint32_t batch);
  double freshness(std::size_t i) const;
  std::uint32_t batch_of(std::size_t i, std::uint32_t samples) const;

  PeerObjectives peers_;
  std::vector<float> x_;
  std::uint32_t batch_;
  std::size_t draws_;
  std::uint32_t curvature_samples_;
  std::vector<std::vector<std::byte>> streams_;  ///< initial state of each peer's stream
  std::vector<float> g_;                         ///< result of the last gradient()
};

/// The mean of the peers' gradients at any x over one frozen batch per peer: as a function of x, it
/// is the gradient of one objective. The peers must outlive this object, whose destructor restores
/// their streams.
class FrozenGradient {
 public:
  /// `samples`: maximum samples per peer.
  FrozenGradient(PeerObjectives peers, std::uint32_t samples);
  ~FrozenGradient();
  FrozenGradient(const FrozenGradient&) = delete;
  FrozenGradient& operator=(const FrozenGradient&) = delete;

  Doubles at(const std::vector<float>& x);

 private:
  void rewind();

  PeerObjectives peers_;
  std::uint32_t samples_;
  std::vector<std::vector<std::byte>> streams_;
};

/// Writes the mean of the peers' next minibatch gradients to g; returns the mean loss.
double mean_gradient(PeerObjectives peers,
                     std::span<const float> x,
                     std::uint32_t batch,
                     std::span<double> g);

}  // namespace gv
