#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "optim/rl/environments.h"

// Sutton 1996, "Generalization in reinforcement learning: successful examples using sparse coarse
// coding"; equations of Sutton & Barto 1998, section 11.3, with the constants and the single
// Runge-Kutta step of Acrobot-v1 (arXiv:1606.01540).

namespace gv {
namespace {

constexpr std::uint32_t acrobot_steps = 500;
constexpr double acrobot_gravity = 9.8;
constexpr double to_centre = 0.5;    ///< from a link's joint to its centre of mass; links have
                                     ///< length, mass and moment of inertia 1
constexpr double acrobot_tau = 0.2;  ///< seconds per step
constexpr double pi = std::numbers::pi;

using Values = std::array<double, 4>;  ///< two angles, two speeds

Values slope(const Values& s, double torque) {
  const auto [theta1, theta2, omega1, omega2] = s;
  const double c = to_centre;
  const double d1 = c * c + (1 + c * c + 2 * c * std::cos(theta2)) + 2;
  const double d2 = c * c + c * std::cos(theta2) + 1;
  const double phi2 = c * acrobot_gravity * std::cos(theta1 + theta2 - pi / 2);
  const double phi1 = -c * omega2 * omega2 * std::sin(theta2) -
                      2 * c * omega2 * omega1 * std::sin(theta2) +
                      (c + 1) * acrobot_gravity * std::cos(theta1 - pi / 2) + phi2;
  const double turn2 = (torque + d2 / d1 * phi1 - c * omega1 * omega1 * std::sin(theta2) - phi2) /
                       (c * c + 1 - d2 * d2 / d1);
  return {omega1, omega2, -(d2 * turn2 + phi1) / d1, turn2};
}

Values moved(const Values& from, double h, const Values& along) {
  Values to;
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = from[k] + h * along[k];
  return to;
}

/// The classical Runge-Kutta rule of order 4, one step.
Values runge_kutta(const Values& s, double torque) {
  const Values k1 = slope(s, torque);
  const Values k2 = slope(moved(s, acrobot_tau / 2, k1), torque);
  const Values k3 = slope(moved(s, acrobot_tau / 2, k2), torque);
  const Values k4 = slope(moved(s, acrobot_tau, k3), torque);
  Values to;
  for (std::size_t k = 0; k < to.size(); ++k)
    to[k] = s[k] + acrobot_tau / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
  return to;
}

/// Returns the angle wrapped to [-pi, pi].
double wrapped(double angle) {
  while (angle > pi) angle -= 2 * pi;
  while (angle < -pi) angle += 2 * pi;
  return angle;
}

class Acrobot : public Environment {
 public:
  Acrobot() : Environment(4, acrobot_steps) {}

 private:
  void begin(std::span<double> state, Rng& rng) const override {
    for (double& value : state) value = -0.1 + 0.2 * rng.uniform();
  }
  Outcome advance(std::span<double> state, std::uint32_t action, Rng&) const override {
    Values s;
    std::ranges::copy(state, s.begin());
    s = runge_kutta(s, static_cast<double>(action) - 1);
    state[0] = wrapped(s[0]);
    state[1] = wrapped(s[1]);
    state[2] = std::clamp(s[2], -4 * pi, 4 * pi);
    state[3] = std::clamp(s[3], -9 * pi, 9 * pi);
    const bool over = -std::cos(state[0]) - std::cos(state[1] + state[0]) > 1;
    return {over ? 0.0F : -1.0F, over};
  }
  void show(std::span<const double> s, std::span<float> seen) const override {
    const std::array<double, 6> all{std::cos(s[0]), std::sin(s[0]), std::cos(s[1]),
                                    std::sin(s[1]), s[2],           s[3]};
    for (std::size_t k = 0; k < all.size(); ++k) seen[k] = static_cast<float>(all[k]);
  }
  /// Bounds the angles, because wrapped() subtracts single turns.
  bool is_state(std::span<const double> s) const override {
    return std::abs(s[0]) <= pi && std::abs(s[1]) <= pi && std::abs(s[2]) <= 4 * pi &&
           std::abs(s[3]) <= 9 * pi;
  }
};

}  // namespace

EnvironmentRow acrobot() {
  return {.name = "acrobot",
          .summary = "two hanging links swing up above a line; -1 for each step",
          .seen = {.channels = 6},
          .actions = 3,
          .limit = acrobot_steps,
          .solved = -100,
          .make = [] { return std::unique_ptr<Environment>(std::make_unique<Acrobot>()); }};
}

}  // namespace gv
