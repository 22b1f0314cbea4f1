#include <cmath>
#include <numbers>

#include "optim/rl/environments.h"

// Barto, Sutton & Anderson 1983, "Neuronlike adaptive elements that can solve difficult learning
// control problems", with the constants, Euler steps and limit of CartPole-v1 (arXiv:1606.01540).

namespace gv {
namespace {

constexpr std::uint32_t cart_steps = 500;
constexpr double cart_gravity = 9.8;
constexpr double pole_mass = 0.1;
constexpr double total_mass = 1.1;  ///< cart (1) and pole
constexpr double half_length = 0.5;
constexpr double cart_force = 10;
constexpr double cart_tau = 0.02;  ///< seconds per step
constexpr double widest = 2.4;
constexpr double steepest = 12 * 2 * std::numbers::pi / 360;

/// State: x, its speed, the angle from upright, its speed.
class CartPole : public Environment {
 public:
  CartPole() : Environment(4, cart_steps) {}

 private:
  void begin(std::span<double> state, Rng& rng) const override {
    for (double& value : state) value = -0.05 + 0.1 * rng.uniform();
  }
  Outcome advance(std::span<double> state, std::uint32_t action, Rng&) const override {
    const double x = state[0], v = state[1], theta = state[2], omega = state[3];
    const double cosine = std::cos(theta);
    const double sine = std::sin(theta);
    const double pushed = ((action == 1 ? cart_force : -cart_force) +
                           pole_mass * half_length * omega * omega * sine) /
                          total_mass;
    const double turn = (cart_gravity * sine - cosine * pushed) /
                        (half_length * (4.0 / 3.0 - pole_mass * cosine * cosine / total_mass));
    state[0] = x + cart_tau * v;
    state[1] = v + cart_tau * (pushed - pole_mass * half_length * turn * cosine / total_mass);
    state[2] = theta + cart_tau * omega;
    state[3] = omega + cart_tau * turn;
    return {1, std::abs(state[0]) > widest || std::abs(state[2]) > steepest};
  }
  void show(std::span<const double> state, std::span<float> seen) const override {
    for (std::size_t k = 0; k < state.size(); ++k) seen[k] = static_cast<float>(state[k]);
  }
};

}  // namespace

EnvironmentRow cart_pole() {
  return {.name = "cartpole",
          .summary = "a pole on a cart is kept upright; 1 for each step",
          .seen = {.channels = 4},
          .actions = 2,
          .limit = cart_steps,
          .solved = 475,
          .make = [] { return std::unique_ptr<Environment>(std::make_unique<CartPole>()); }};
}

}  // namespace gv
