#include "gpu/bench/bench_samples.h"

#include <cstdint>
#include <memory>

namespace gv::gpu {

Share pictures() {
  auto data = std::make_shared<Dataset>();
  data->rows = 4096;
  data->features = 3 * 32 * 32;
  data->classes = 10;
  data->image = {3, 32, 32};
  Rng rng(1);
  for (std::size_t k = 0; k < std::size_t{data->rows} * data->features; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(rng.below(256)));
  for (std::uint32_t r = 0; r < data->rows; ++r)
    data->labels.push_back(static_cast<std::uint8_t>(rng.below(10)));
  data->shift = {0.5F};
  data->scale = {4};
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

Share text() {
  auto data = std::make_shared<Dataset>();
  data->context = data->features = 128;
  data->rows = 65'536;
  data->classes = 96;
  Rng rng(1);
  for (std::uint32_t c = 0; c < data->classes; ++c)
    data->vocabulary.push_back(static_cast<std::uint8_t>(c + 32));
  for (std::uint32_t k = 0; k < data->rows + data->context; ++k)
    data->tokens.push_back(static_cast<std::uint8_t>(rng.below(data->classes)));
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

}  // namespace gv::gpu
