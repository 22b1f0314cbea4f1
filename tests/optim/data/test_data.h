#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "optim/models/objective.h"
#include "optim/train/replica.h"

namespace gv {

/// Returns pictures of noise around a pattern per class, so that there is something to learn.
inline TrainTest noisy_pictures(ImageShape image, std::uint32_t rows, std::uint32_t classes) {
  const std::uint32_t features = image.channels * image.height * image.width;
  TrainTest blobs = make_blobs(rows, rows, features, classes, 9, Rng(3));
  const auto shaped = [&](const Dataset& flat) {
    auto data = std::make_shared<Dataset>(flat);
    data->image = image;
    return data;
  };
  return {shaped(*blobs.train), shaped(*blobs.test)};
}

/// Returns a text of `classes` characters in which the next is mostly the next in the alphabet.
inline TrainTest counting_text(std::uint32_t rows, std::uint32_t context, std::uint32_t classes) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = data->context = context;
  data->classes = classes;
  for (std::uint32_t c = 0; c < classes; ++c)
    data->vocabulary.push_back(static_cast<std::uint8_t>('a' + c));
  Rng rng(4);
  std::uint64_t token = 0;
  for (std::uint32_t k = 0; k < rows + context; ++k) {
    data->tokens.push_back(static_cast<std::uint8_t>(token));
    token = rng.below(10) == 0 ? rng.below(classes) : (token + 1) % classes;
  }
  return {data, data};
}

/// Returns a share with all rows.
inline Share whole(const TrainTest& data) {
  std::vector<std::uint32_t> rows(data.train->rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return {data.train, data.test, rows, Rng(9)};
}

inline std::vector<float> x_of(const Replica& replica) {
  Buffer copy(replica.size() * sizeof(float));
  replica.snapshot(Vector::x, {0, replica.size()}, copy);
  return {copy.floats().begin(), copy.floats().end()};
}

}  // namespace gv
