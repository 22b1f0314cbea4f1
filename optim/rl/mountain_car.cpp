#include <algorithm>
#include <cmath>

#include "optim/rl/environments.h"

// Moore 1990, "Efficient memory-based learning for robot control", with the constants of
// MountainCar-v0 (arXiv:1606.01540).

namespace gv {
namespace {

constexpr std::uint32_t car_steps = 200;
constexpr double car_force = 0.001;
constexpr double car_gravity = 0.0025;
constexpr double fastest = 0.07;
constexpr double leftmost = -1.2;
constexpr double rightmost = 0.6;
constexpr double goal = 0.5;

/// State: position, speed.
class MountainCar : public Environment {
 public:
  MountainCar() : Environment(2, car_steps) {}

 private:
  void begin(std::span<double> state, Rng& rng) const override {
    state[0] = -0.6 + 0.2 * rng.uniform();
    state[1] = 0;
  }
  Outcome advance(std::span<double> state, std::uint32_t action, Rng&) const override {
    double& position = state[0];
    double& speed = state[1];
    speed += (static_cast<double>(action) - 1) * car_force - std::cos(3 * position) * car_gravity;
    speed = std::clamp(speed, -fastest, fastest);
    position = std::clamp(position + speed, leftmost, rightmost);
    if (position == leftmost && speed < 0) speed = 0;
    return {-1, position >= goal && speed >= 0};
  }
  void show(std::span<const double> state, std::span<float> seen) const override {
    for (std::size_t k = 0; k < state.size(); ++k) seen[k] = static_cast<float>(state[k]);
  }
};

}  // namespace

EnvironmentRow mountain_car() {
  return {.name = "mountain-car",
          .summary = "a weak car swings itself up a hill; -1 for each step",
          .seen = {.channels = 2},
          .actions = 3,
          .limit = car_steps,
          .solved = -110,
          .make = [] { return std::unique_ptr<Environment>(std::make_unique<MountainCar>()); }};
}

}  // namespace gv
