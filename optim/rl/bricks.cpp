#include <algorithm>
#include <cmath>
#include <string>

#include "optim/rl/environments.h"

// Ball, paddle and wall on binary planes, inspired by MinAtar's Breakout (Young & Tian 2019,
// arXiv:1903.03176). The rules are our own, and returns are not comparable to MinAtar's.

namespace gv {
namespace {

constexpr std::uint32_t bricks_steps = 1000;
constexpr std::uint32_t side = 10;
constexpr std::uint32_t wall_top = 1;  ///< first row of the wall
constexpr std::uint32_t wall_rows = 3;
constexpr std::uint32_t paddle_row = side - 1;

/// Indices of the state's values.
enum Place : std::size_t { ball_x, ball_y, going_x, going_y, last_x, last_y, paddle, wall };
constexpr std::size_t values = wall + std::size_t{wall_rows} * side;

bool is_wall_row(int y) {
  return y >= static_cast<int>(wall_top) && y < static_cast<int>(wall_top + wall_rows);
}

/// The game in whole numbers, each of which the state stores as a double.
class Game {
 public:
  explicit Game(std::span<double> state) : state_(state) {}

  void move_paddle(std::uint32_t action) {
    const int to = at(paddle) + static_cast<int>(action) - 1;
    put(paddle, std::clamp(to, 0, static_cast<int>(side) - 1));
  }
  /// Moves the ball by one place, or bounces it. Returns the number of broken bricks, 0 or 1.
  float move_ball() {
    int x = at(ball_x) + at(going_x);
    int y = at(ball_y) + at(going_y);
    float broken = 0;
    if (x < 0 || x >= static_cast<int>(side)) turn(going_x), x = at(ball_x);
    if (y < 0) turn(going_y), y = at(ball_y);
    if (is_wall_row(y) && brick(x, y) > 0) {
      brick(x, y) = 0;
      broken = 1;
      turn(going_y), y = at(ball_y);
    } else if (y == static_cast<int>(paddle_row)) {
      y = meet_paddle(x, y);
    }
    put(last_x, at(ball_x)), put(last_y, at(ball_y));
    put(ball_x, x), put(ball_y, y);
    return broken;
  }
  bool lost() const { return at(ball_y) == static_cast<int>(paddle_row); }
  void rebuild_when_gone() {
    const std::span<double> bricks = state_.subspan(wall);
    if (std::ranges::all_of(bricks, [](double b) { return b == 0; }))
      std::ranges::fill(bricks, 1.0);
  }

 private:
  int at(Place place) const { return static_cast<int>(state_[place]); }
  void put(Place place, int value) { state_[place] = value; }
  void turn(Place place) { put(place, -at(place)); }
  double& brick(int x, int y) {
    return state_[wall + static_cast<std::size_t>(y - static_cast<int>(wall_top)) * side +
                  static_cast<std::size_t>(x)];
  }
  /// The paddle below the ball reflects it; a paddle in its path sends it back in its own
  /// direction. Returns the ball's row.
  int meet_paddle(int x, int y) {
    if (at(paddle) != x && at(paddle) != at(ball_x)) return y;
    if (at(paddle) == x && x != at(ball_x)) turn(going_x);
    turn(going_y);
    return at(ball_y);
  }

  std::span<double> state_;
};

bool is_one_of(double value, double least, double most) {
  return value >= least && value <= most && value == std::floor(value);
}

class Bricks : public Environment {
 public:
  Bricks() : Environment(values, bricks_steps) {}

 private:
  void begin(std::span<double> state, Rng& rng) const override {
    state[ball_x] = static_cast<double>(rng.below(side));
    state[ball_y] = wall_top + wall_rows;
    state[going_x] = rng.below(2) == 0 ? -1 : 1;
    state[going_y] = 1;
    state[last_x] = state[ball_x];
    state[last_y] = state[ball_y];
    state[paddle] = static_cast<double>(rng.below(side));
    std::ranges::fill(state.subspan(wall), 1.0);
  }
  Outcome advance(std::span<double> state, std::uint32_t action, Rng&) const override {
    Game game(state);
    game.move_paddle(action);
    const float broken = game.move_ball();
    game.rebuild_when_gone();
    return {broken, game.lost()};
  }
  /// Planes: paddle, ball, the ball's last place, wall.
  void show(std::span<const double> state, std::span<float> seen) const override {
    std::ranges::fill(seen, 0.0F);
    const auto mark = [&](std::size_t plane, double x, double y) {
      seen[(plane * side + static_cast<std::size_t>(y)) * side + static_cast<std::size_t>(x)] = 1;
    };
    mark(0, state[paddle], paddle_row);
    mark(1, state[ball_x], state[ball_y]);
    mark(2, state[last_x], state[last_y]);
    for (std::size_t k = wall; k < values; ++k)
      if (state[k] > 0) seen[(3 * side + wall_top) * side + (k - wall)] = 1;
  }
  /// Checks that places are inside the planes, and that the ball of an unfinished episode is above
  /// the paddle's row.
  bool is_state(std::span<const double> state) const override {
    for (const Place place : {ball_x, last_x, paddle})
      if (!is_one_of(state[place], 0, side - 1)) return false;
    for (const Place place : {ball_y, last_y})
      if (!is_one_of(state[place], 0, paddle_row - 1)) return false;
    for (const Place place : {going_x, going_y})
      if (std::abs(state[place]) != 1) return false;
    return std::ranges::all_of(state.subspan(wall),
                               [](double brick) { return brick == 0 || brick == 1; });
  }
};

}  // namespace

EnvironmentRow bricks() {
  return {.name = "bricks",
          .summary = "a paddle keeps a ball in play that breaks a wall; 1 for each brick",
          .seen = {.channels = 4, .height = side, .width = side},
          .actions = 3,
          .limit = bricks_steps,
          .solved = 20,
          .binary = true,
          .make = [] { return std::unique_ptr<Environment>(std::make_unique<Bricks>()); }};
}

}  // namespace gv
