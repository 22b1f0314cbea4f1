#include <cmath>
#include <numbers>

#include "peer/fleet/data/data_reader.h"

// Lang & Witbrock 1988, "Learning to tell two spirals apart", Proceedings of the 1988 Connectionist
// Models Summer School: two spirals around one point, which neither a line nor one hidden layer of
// a few units separates. Theirs have three turns and 97 points each; here points are drawn at
// random along the spirals, with noise.

namespace gv {
namespace {

/// Class 1 is class 0 turned by half a circle.
std::shared_ptr<const Dataset> spirals(std::uint32_t n, double turns, double noise, Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = n;
  data->features = data->classes = 2;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t label = i % 2;
    const double radius = std::sqrt(rng.uniform());  // uniform density along a spiral
    const double angle = 2 * std::numbers::pi * (turns * radius + 0.5 * label);
    data->floats.push_back(static_cast<float>(radius * std::cos(angle) + noise * rng.normal()));
    data->floats.push_back(static_cast<float>(radius * std::sin(angle) + noise * rng.normal()));
    data->labels.push_back(static_cast<std::uint8_t>(label));
  }
  return data;
}

void read(DataReading& from) {
  from.sizes();
  from.data.own["turns"] = from.number("turns");
  from.data.noise = from.number("noise");
}

TrainTest load(const DataSpec& data, const Rng& rng) {
  const double turns = data.own.at("turns");
  return {spirals(data.train, turns, data.noise, rng.derive("train")),
          spirals(data.test, turns, data.noise, rng.derive("test"))};
}

}  // namespace

DataKind spirals_kind() {
  return {.kind = "spirals",
          .form = DataForm::rows,
          .summary = "drawn",
          .keys = with_sizes({{.name = "turns",
                               .number = any_number(1, 0, 100),
                               .help = "how often each goes around",
                               .example = "data: { kind: spirals, turns: 3 }"},
                              {.name = "noise",
                               .number = any_number(0.02, 0, 1e6),
                               .help = "deviation of each coordinate; the spirals have radius 1"}}),
          .read = read,
          .drawn = [](const DataSpec&) { return std::uint64_t{2}; },
          .load = load};
}

}  // namespace gv
