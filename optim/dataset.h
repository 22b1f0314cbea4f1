#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/rng.h"

namespace gv {

/// Samples in rows. Image data stay as bytes (a quarter of the memory) and become floats when
/// gathered.
struct Dataset {
  std::uint32_t rows = 0;
  std::uint32_t features = 0;
  std::uint32_t classes = 0;  ///< 0: regression
  std::vector<std::uint8_t>
      bytes;  ///< rows x features, or empty; a float is (byte / 255 - shift) * scale
  std::vector<float> floats;  ///< rows x features, or empty
  float shift = 0;
  float scale = 1;
  std::vector<std::uint8_t> labels;  ///< rows, when classes > 0
  std::vector<float> targets;        ///< rows, when regression
  std::vector<float> optimum;        ///< x*, when known (linear)

  /// out[r * features + c] <- feature c of sample rows[r].
  void gather(std::span<const std::uint32_t> rows, std::span<float> out) const;
};

struct TrainTest {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

/// Sets shift and scale of both to the mean and deviation of the training pixels.
void standardize(Dataset& train, Dataset& test);

/// IDX images and labels (MNIST family), plain or gzipped: train-images-idx3-ubyte[.gz],
/// train-labels-idx1-ubyte[.gz], t10k-... in `dir`. Magic, dimensions and length are checked before
/// anything is allocated; throws std::runtime_error "path: what, with the numbers". Pixels are
/// standardized by the training mean and deviation. Y. LeCun, "The MNIST database", file formats.
TrainTest read_idx(const std::string& dir);

/// Procedurally drawn 28 x 28 digits: stroke skeletons, random affine map, thickness and noise.
/// Needs no file. Same seed, same pictures. 10 classes, balanced up to one.
TrainTest draw_digits(std::uint32_t train, std::uint32_t test, Rng rng);

/// Gaussian blobs: `classes` centres in `features` dimensions at distance about `separation`
/// standard deviations.
TrainTest make_blobs(std::uint32_t train,
                     std::uint32_t test,
                     std::uint32_t features,
                     std::uint32_t classes,
                     double separation,
                     Rng rng);

/// Least squares: a ~ N(0, I), y = a . x* + noise * N(0, 1), x* ~ N(0, I) recorded in `optimum`.
TrainTest make_linear(
    std::uint32_t train, std::uint32_t test, std::uint32_t features, double noise, Rng rng);

}  // namespace gv
