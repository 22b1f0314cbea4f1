#pragma once

#include "tests/peer/sim/method_runs.h"

// Four peers with one coordinate each, for methods followed by hand.

namespace gv {

/// theory: ring or star of 4, h = 1, gamma = 0.1, b = (0, 1, 0, -1), no noise.
inline const Values centers{0, 1, 0, -1};
inline const Values begin{1, 2, 3, 4};

inline Fleet four(const std::string& topology,
                  const std::string& algorithm,
                  Settings settings = {}) {
  Fleet fleet = quadratic_fleet(4, topology, algorithm, "");
  fleet.settings = std::move(settings);
  fleet.data.quadratic = {.dimension = 1,
                          .hessian = {1},
                          .noise = 0,
                          .spread = 0,
                          .start = 0,
                          .centers = {{0}, {1}, {0}, {-1}}};
  return fleet;
}

inline constexpr double gamma = 0.1;

inline Values ring_mean(const Values& v) {
  const std::size_t n = v.size();
  Values y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = (v[(i + n - 1) % n] + v[i] + v[(i + 1) % n]) / 3;
  return y;
}
inline Values lazy_ring_mean(const Values& v) {
  Values y = ring_mean(v);
  for (std::size_t i = 0; i < v.size(); ++i) y[i] = (y[i] + v[i]) / 2;
  return y;
}
inline Values mean_of(const Values& v) {
  double sum = 0;
  for (const double value : v) sum += value;
  return Values(v.size(), sum / static_cast<double>(v.size()));
}
inline Values step(Values x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= gamma * (x[i] - centers[i]);
  return x;
}
inline Values steps(Values x, int count) {
  for (int h = 0; h < count; ++h) x = step(x);
  return x;
}

}  // namespace gv
