#include "optim/data/dataset.h"

#include <array>
#include <cmath>
#include <stdexcept>

namespace gv {
namespace {

/// Inlined with plain pointers so that the loop vectorizes.
inline void widen(const std::uint8_t* from, float* to, std::size_t n, float shift, float scale) {
  for (std::size_t c = 0; c < n; ++c)
    to[c] = (static_cast<float>(from[c]) * (1.0F / 255) - shift) * scale;
}

std::vector<float> centres_of(std::uint32_t features,
                              std::uint32_t classes,
                              double separation,
                              Rng rng) {
  std::vector<float> centres(std::size_t{classes} * features);
  rng.fill_normal(centres);
  // Two random centres are then about `separation` apart: E|c - c'|^2 = 2 features scale^2.
  const auto scale = static_cast<float>(separation / std::sqrt(2.0 * features));
  for (float& c : centres) c *= scale;
  return centres;
}

std::shared_ptr<const Dataset> blobs(std::uint32_t rows,
                                     std::uint32_t features,
                                     const std::vector<float>& centres,
                                     Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = features;
  data->classes = static_cast<std::uint32_t>(centres.size() / features);
  data->floats.resize(std::size_t{rows} * features);
  rng.fill_normal(data->floats);
  for (std::uint32_t r = 0; r < rows; ++r) {
    const auto label = static_cast<std::uint8_t>(rng.below(data->classes));
    data->labels.push_back(label);
    for (std::uint32_t c = 0; c < features; ++c) {
      data->floats[std::size_t{r} * features + c] += centres[std::size_t{label} * features + c];
    }
  }
  return data;
}

std::shared_ptr<const Dataset> linear(std::uint32_t rows,
                                      const std::vector<float>& optimum,
                                      double noise,
                                      Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = static_cast<std::uint32_t>(optimum.size());
  data->optimum = optimum;
  data->floats.resize(std::size_t{rows} * optimum.size());
  rng.fill_normal(data->floats);
  for (std::uint32_t r = 0; r < rows; ++r) {
    double y = noise * rng.normal();
    for (std::size_t c = 0; c < optimum.size(); ++c) {
      y += static_cast<double>(data->floats[r * optimum.size() + c]) *
           static_cast<double>(optimum[c]);
    }
    data->targets.push_back(static_cast<float>(y));
  }
  return data;
}

/// One row: out[x] <- in[x + right], zero beyond the edges.
void slide(std::span<const float> in, std::int32_t right, std::span<float> out) {
  const auto width = static_cast<std::int32_t>(in.size());
  for (std::int32_t x = 0; x < width; ++x) {
    const std::int32_t from = x + right;
    const bool inside = from >= 0 && from < width;
    out[static_cast<std::size_t>(x)] = inside ? in[static_cast<std::size_t>(from)] : 0.0F;
  }
}

}  // namespace

void Dataset::gather(std::span<const std::uint32_t> chosen, std::span<float> out) const {
  GV_CHECK(!is_text() && !is_sparse(), "a table; of a text the tokens of windows are gathered");
  GV_CHECK_EQUAL(out.size(), chosen.size() * features, "room for the gathered rows");
  GV_CHECK_EQUAL(shift.size(), scale.size(), "a scale for each shift");
  const std::size_t plane = features / shift.size();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    GV_CHECK(chosen[i] < rows, "a row of this data set");
    float* to = out.data() + i * features;
    const std::size_t from = std::size_t{chosen[i]} * features;
    if (bytes.empty()) {
      std::copy_n(floats.data() + from, features, to);
      continue;
    }
    for (std::size_t c = 0; c < shift.size(); ++c)
      widen(bytes.data() + from + c * plane, to + c * plane, plane, shift[c], scale[c]);
  }
}

void Dataset::gather(std::span<const std::uint32_t> chosen,
                     std::span<const View> views,
                     std::span<float> out) const {
  if (views.empty()) return gather(chosen, out);
  GV_CHECK_EQUAL(views.size(), chosen.size(), "a view of each row");
  GV_CHECK_EQUAL(out.size(), chosen.size() * features, "room for the gathered rows");
  std::vector<float> whole(features);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    gather(chosen.subspan(i, 1), whole);
    look(views[i], image, whole, out.subspan(i * features, features));
  }
}

void Dataset::gather_windows(std::span<const std::uint32_t> chosen,
                             std::span<std::uint8_t> inputs,
                             std::span<std::uint8_t> following) const {
  GV_CHECK(is_text(), "a text");
  GV_CHECK_EQUAL(inputs.size(), chosen.size() * context, "room for the inputs");
  GV_CHECK_EQUAL(following.size(), chosen.size() * context, "room for the targets");
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    GV_CHECK(chosen[i] < rows, "a window of this text");
    const std::uint8_t* from = tokens.data() + chosen[i];
    std::copy_n(from, context, inputs.data() + i * context);
    std::copy_n(from + 1, context, following.data() + i * context);
  }
}

std::vector<std::uint32_t> Dataset::evaluation_rows() const {
  const std::uint32_t stride = is_text() ? context : 1;
  std::vector<std::uint32_t> chosen;
  for (std::uint64_t r = 0; r < rows; r += stride) chosen.push_back(static_cast<std::uint32_t>(r));
  return chosen;
}

void standardize(Dataset& train, Dataset& test) {
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t value : train.bytes) ++histogram[value];
  const auto n = static_cast<double>(std::max<std::size_t>(train.bytes.size(), 1));
  double mean = 0;
  for (std::size_t value = 0; value < histogram.size(); ++value)
    mean += static_cast<double>(value) / 255 * static_cast<double>(histogram[value]) / n;
  double variance = 0;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    const double off = static_cast<double>(value) / 255 - mean;
    variance += off * off * static_cast<double>(histogram[value]) / n;
  }
  train.shift = test.shift = {static_cast<float>(mean)};
  // Constant pictures have no deviation; their only value becomes zero.
  train.scale = test.scale = {static_cast<float>(variance > 0 ? 1 / std::sqrt(variance) : 1)};
}

TrainTest make_blobs(std::uint32_t train,
                     std::uint32_t test,
                     std::uint32_t features,
                     std::uint32_t classes,
                     double separation,
                     Rng rng) {
  if (features == 0 || classes == 0 || classes > 256) {
    throw std::invalid_argument("blobs: " + std::to_string(classes) + " classes (1 to 256) in " +
                                std::to_string(features) + " dimensions (at least 1)");
  }
  const std::vector<float> centres =
      centres_of(features, classes, separation, rng.derive("centres"));
  return {blobs(train, features, centres, rng.derive("train")),
          blobs(test, features, centres, rng.derive("test"))};
}

TrainTest make_linear(
    std::uint32_t train, std::uint32_t test, std::uint32_t features, double noise, Rng rng) {
  if (features == 0) throw std::invalid_argument("linear: 0 features (at least 1)");
  std::vector<float> optimum(features);
  rng.derive("optimum").fill_normal(optimum);
  return {linear(train, optimum, noise, rng.derive("train")),
          linear(test, optimum, noise, rng.derive("test"))};
}

View draw_view(const AugmentSpec& spec, Rng& rng) {
  constexpr std::uint64_t places = 2 * crop_padding + 1;
  const auto down = static_cast<std::int32_t>(rng.below(places)) - crop_padding;
  const auto right = static_cast<std::int32_t>(rng.below(places)) - crop_padding;
  const bool mirrored = rng.below(2) == 1;
  View view;
  if (spec.crop) view = {static_cast<std::int8_t>(down), static_cast<std::int8_t>(right), false};
  view.mirrored = spec.flip && mirrored;
  return view;
}

void look(const View& view,
          const ImageShape& shape,
          std::span<const float> picture,
          std::span<float> out) {
  const std::size_t width = shape.width;
  const std::size_t plane = shape.height * width;
  GV_CHECK_EQUAL(picture.size(), shape.channels * plane, "a picture of the shape");
  GV_CHECK_EQUAL(out.size(), picture.size(), "room for the picture");
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t y = 0; y < std::int64_t{shape.height}; ++y) {
      const std::int64_t from = y + view.down;
      const std::span<float> row =
          out.subspan(c * plane + static_cast<std::size_t>(y) * width, width);
      if (from < 0 || from >= std::int64_t{shape.height}) {
        std::ranges::fill(row, 0.0F);
        continue;
      }
      slide(picture.subspan(c * plane + static_cast<std::size_t>(from) * width, width), view.right,
            row);
      if (view.mirrored) std::ranges::reverse(row);
    }
  }
}

}  // namespace gv
