#include "optim/data/sparse.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "optim/data/dataset.h"

namespace gv {
namespace {

/// More than half of all would take too many draws, so those are drawn evenly.
std::vector<std::uint32_t> draw_columns(std::uint32_t features, std::uint32_t nonzeros, Rng& rng) {
  std::vector<std::uint32_t> columns;
  if (nonzeros > features / 2) {
    columns.resize(features);
    std::iota(columns.begin(), columns.end(), 0U);
    if (nonzeros < features) rng.shuffle(columns);
    columns.resize(nonzeros);
    std::ranges::sort(columns);
  }
  while (columns.size() < nonzeros) {
    for (std::size_t missing = nonzeros - columns.size(); missing > 0; --missing) {
      const double u = rng.uniform();
      columns.push_back(static_cast<std::uint32_t>(u * u * features));
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
  }
  return columns;
}

std::shared_ptr<const Dataset> draw(std::uint32_t rows,
                                    const std::vector<float>& plane,
                                    std::uint32_t nonzeros,
                                    double noise,
                                    Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = static_cast<std::uint32_t>(plane.size());
  data->classes = 2;
  const double deviation = 1 / std::sqrt(static_cast<double>(nonzeros));
  for (std::uint32_t r = 0; r < rows; ++r) {
    double side = 0;
    for (const std::uint32_t column : draw_columns(data->features, nonzeros, rng)) {
      const auto value = static_cast<float>(deviation * rng.normal());
      data->sparse.columns.push_back(column);
      data->sparse.values.push_back(value);
      side += static_cast<double>(value) * static_cast<double>(plane[column]);
    }
    data->sparse.ends.push_back(data->sparse.columns.size());
    const bool flipped = rng.uniform() < noise;
    data->labels.push_back((side > 0) != flipped ? 1 : 0);
  }
  return data;
}

}  // namespace

TrainTest draw_sparse(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t nonzeros,
                      double noise,
                      Rng rng) {
  if (nonzeros == 0 || nonzeros > features)
    throw std::invalid_argument("sparse: " + std::to_string(nonzeros) + " of " +
                                std::to_string(features) +
                                " features are not zero (from 1 to all of them)");
  std::vector<float> plane(features);
  rng.derive("plane").fill_normal(plane);
  return {draw(train, plane, nonzeros, noise, rng.derive("train")),
          draw(test, plane, nonzeros, noise, rng.derive("test"))};
}

}  // namespace gv
