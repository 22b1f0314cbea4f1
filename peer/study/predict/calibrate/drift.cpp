#include "peer/study/predict/calibrate/drift.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gv {
namespace {

constexpr double reach = 0.05;  ///< length of second differences: about as far as peers are
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

  /// Returns the curvature of what the deviations have beyond the leading axes, on average.
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
        add_floats(first,
                   side * length / (2 * reach * count()),
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
          add_floats(
              second, weight / (2 * count()), gradients_.at(i, scaled(side * reach / length, v)));
    }
    return {seen(first), seen(second)};
  }

  const DisplacedGradients& gradients_;
  const LeadingPairs& leading_;
  const std::vector<Doubles>& adjoints_;
  std::size_t size_;
  Doubles here_;  ///< the mean gradient on the samples of `gradients_`
  Drift drift_;
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

}  // namespace gv
