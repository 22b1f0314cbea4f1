#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "optim/data/dataset.h"

namespace gv {
namespace {

constexpr std::uint32_t side = 28;

struct Point {
  float x, y;
};
using Stroke = std::vector<Point>;

/// Part of an ellipse, in degrees, clockwise on the screen from the right; 0 to 360 is the whole.
Stroke arc(Point centre, float rx, float ry, float from, float to) {
  Stroke stroke;
  constexpr int pieces = 10;
  for (int i = 0; i <= pieces; ++i) {
    const float angle =
        (from + (to - from) * static_cast<float>(i) / pieces) * std::numbers::pi_v<float> / 180;
    stroke.push_back({centre.x + rx * std::cos(angle), centre.y + ry * std::sin(angle)});
  }
  return stroke;
}

/// The ten skeletons in the unit square, y downwards; some digits are written in two ways.
std::vector<std::vector<Stroke>> skeletons(std::uint32_t digit) {
  switch (digit) {
    case 0:
      return {{arc({.5F, .5F}, .24F, .38F, 0, 360)}};
    case 1:
      return {{{{.35F, .28F}, {.52F, .12F}, {.52F, .88F}}}, {{{.5F, .12F}, {.5F, .88F}}}};
    case 2:
      return {{arc({.5F, .32F}, .22F, .2F, 180, 385), {{.69F, .4F}, {.27F, .87F}, {.75F, .87F}}}};
    case 3:
      return {{arc({.48F, .31F}, .21F, .19F, 200, 450), arc({.48F, .69F}, .24F, .2F, 270, 520)}};
    case 4:
      return {{{{.6F, .88F}, {.6F, .12F}, {.24F, .62F}, {.78F, .62F}}},
              {{{.28F, .14F}, {.26F, .52F}, {.72F, .52F}}, {{.66F, .14F}, {.64F, .88F}}}};
    case 5:
      return {{{{.7F, .13F}, {.33F, .13F}, {.3F, .47F}}, arc({.48F, .65F}, .24F, .22F, 225, 510)}};
    case 6:
      return {{arc({.58F, .5F}, .3F, .38F, 265, 180), arc({.5F, .67F}, .21F, .2F, 0, 360)}};
    case 7:
      return {{{{.26F, .14F}, {.74F, .14F}, {.42F, .88F}}},
              {{{.26F, .14F}, {.74F, .14F}, {.42F, .88F}}, {{.4F, .5F}, {.7F, .5F}}}};
    case 8:
      return {{arc({.5F, .31F}, .19F, .18F, 0, 360), arc({.5F, .69F}, .23F, .2F, 0, 360)}};
    default:
      return {{arc({.5F, .34F}, .21F, .2F, 0, 360), {{.71F, .34F}, {.64F, .88F}}}};
  }
}

float squared_distance(Point p, Point a, Point b) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float length = std::max(dx * dx + dy * dy, 1e-9F);
  const float t = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0F, 1.0F);
  const float ex = a.x + t * dx - p.x;
  const float ey = a.y + t * dy - p.y;
  return ex * ex + ey * ey;
}

/// A random hand: rotation, slant, size, place, and a wobble of every point.
struct Hand {
  float cosine, sine, slant, width, height, dx, dy, wobble;
  explicit Hand(Rng& rng) {
    const auto around = [&rng](double deviation) {
      return static_cast<float>(deviation * rng.normal());
    };
    const float angle = around(0.12);
    cosine = std::cos(angle);
    sine = std::sin(angle);
    slant = around(0.16);
    width = 0.72F + around(0.09);
    height = 0.76F + around(0.07);
    dx = around(0.04);
    dy = around(0.04);
    wobble = 0.025F;
  }
  Point move(Point p, Rng& rng) const {
    const float x = (p.x - 0.5F) * width + wobble * static_cast<float>(rng.normal());
    const float y = (p.y - 0.5F) * height + wobble * static_cast<float>(rng.normal());
    const float slanted = x - slant * y;
    return {0.5F + cosine * slanted - sine * y + dx, 0.5F + sine * slanted + cosine * y + dy};
  }
};

/// Darkens the pixels near one segment: full inside half the thickness, fading over one pixel.
void draw_segment(std::array<float, side * side>& ink, Point a, Point b, float half_width) {
  const float reach = half_width + 1.5F / side;
  const auto low = [reach](float u, float v) {
    return std::clamp(static_cast<int>(std::floor((std::min(u, v) - reach) * side)), 0,
                      static_cast<int>(side));
  };
  const auto high = [reach](float u, float v) {
    return std::clamp(static_cast<int>(std::ceil((std::max(u, v) + reach) * side)), 0,
                      static_cast<int>(side));
  };
  for (int row = low(a.y, b.y); row < high(a.y, b.y); ++row) {
    for (int column = low(a.x, b.x); column < high(a.x, b.x); ++column) {
      const Point centre{(static_cast<float>(column) + 0.5F) / side,
                         (static_cast<float>(row) + 0.5F) / side};
      const float outside = (std::sqrt(squared_distance(centre, a, b)) - half_width) * side;
      float& pixel = ink[static_cast<std::size_t>(row) * side + static_cast<std::size_t>(column)];
      pixel = std::max(pixel, std::clamp(1 - outside, 0.0F, 1.0F));
    }
  }
}

void draw(std::uint32_t digit, Rng rng, std::uint8_t* out) {
  std::array<float, side * side> ink{};
  const Hand hand(rng);
  const float half_width =
      std::clamp(0.04F + 0.012F * static_cast<float>(rng.normal()), 0.018F, 0.08F);
  const auto ways = skeletons(digit);
  for (Stroke stroke : ways[rng.below(ways.size())]) {
    for (Point& p : stroke) p = hand.move(p, rng);
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
      draw_segment(ink, stroke[i], stroke[i + 1], half_width);
  }
  std::array<float, side * side> noise{};
  rng.fill_normal(noise);
  const float strength = 0.06F + 0.1F * static_cast<float>(rng.uniform());
  for (std::size_t k = 0; k < ink.size(); ++k) {
    const float value = std::clamp(0.92F * ink[k] + strength * noise[k], 0.0F, 1.0F);
    out[k] = static_cast<std::uint8_t>(value * 255 + 0.5F);
  }
}

std::shared_ptr<Dataset> draw_set(std::uint32_t rows, const Rng& rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = side * side;
  data->image = {1, side, side};
  data->classes = 10;
  data->bytes.own().resize(std::size_t{rows} * side * side);
  std::vector<std::uint32_t> labels(rows);
  for (std::uint32_t r = 0; r < rows; ++r) labels[r] = r % 10;
  rng.derive("labels").shuffle(labels);
  for (std::uint32_t r = 0; r < rows; ++r) {
    data->labels.push_back(static_cast<std::uint8_t>(labels[r]));
    draw(labels[r], rng.derive(r), data->bytes.own().data() + std::size_t{r} * side * side);
  }
  return data;
}

}  // namespace

TrainTest draw_digits(std::uint32_t train, std::uint32_t test, Rng rng) {
  const std::shared_ptr<Dataset> drawn = draw_set(train, rng.derive("train"));
  const std::shared_ptr<Dataset> held_out = draw_set(test, rng.derive("test"));
  standardize(*drawn, *held_out);
  return {drawn, held_out};
}

}  // namespace gv
