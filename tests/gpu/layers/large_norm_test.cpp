#include <cmath>
#include <memory>
#include <span>

#include "optim/models/network_builder.h"
#include "tests/gpu/replica/replicas.h"

// Batch norms with channels so large that several blocks share one (gpu/layers/norm.cu): in
// the other tests one block handles a channel.

namespace gv {
namespace {

constexpr std::uint32_t side = 64;
constexpr std::uint32_t batch = 9;  // 36,864 values per channel

std::shared_ptr<const Dataset> large_pictures() {
  auto data = std::make_shared<Dataset>();
  data->rows = 3 * batch;
  data->image = {.channels = 1, .height = side, .width = side};
  data->features = side * side;
  data->classes = 3;
  data->shift = {0};
  data->scale = {1};
  data->floats = normal(std::size_t{data->rows} * data->features, 5);
  for (std::uint32_t r = 0; r < data->rows; ++r)
    data->labels.push_back(static_cast<std::uint8_t>(r % 3));
  return data;
}

/// Returns two norms, followed by a relu and by a sum and a relu.
NeuralNetwork normed(const Shape& image) {
  NetworkBuilder build(image, 3);
  const auto norm = [&](std::uint32_t x, const std::string& name) {
    const std::uint32_t y = build.convolution(x, name, 2, {3, 1, 1}, false);
    return build.norm(Op::batch_norm, y, name + ".norm");
  };
  const std::uint32_t x = build.relu(norm(0, "conv1"));
  const std::uint32_t y = build.relu(build.add(norm(x, "conv2"), x));
  build.linear(build.average_pool(y), "fc", 3, true);
  return build.build();
}

std::unique_ptr<Replica> make_norm(const Implementation& on) {
  const auto data = large_pictures();
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(4)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  OptimizerSpec sgd;
  sgd.lr = 0.1;
  return on.make(normed(shape_of(data->image)), std::move(share), sgd, batch, Rng(3));
}

double norm_of(std::span<const float> v) {
  double sum = 0;
  for (const float value : v) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// A relu that opens or closes by rounding changes 3e-5 of a channel's gradient.
TEST(LargeNormParity, GradientsAndMomentsAgree) {
  GV_NEEDS_CUDA(cuda.missing());
  const auto on_cpu = make_norm(host);
  const auto on_gpu = make_norm(cuda);
  const NeuralNetwork network = normed({.channels = 1, .height = side, .width = side});
  for (int step = 0; step < 3; ++step) {
    EXPECT_NEAR(loss_of_gradient(*on_gpu) / loss_of_gradient(*on_cpu), 1, 1e-5);
    const std::vector<float> a = values(*on_gpu, Vector::g);
    const std::vector<float> b = values(*on_cpu, Vector::g);
    for (const Tensor& t : network.tensors) {
      const auto theirs = std::span(b).subspan(t.offset, t.count);
      std::vector<float> off(a.begin() + static_cast<std::ptrdiff_t>(t.offset),
                             a.begin() + static_cast<std::ptrdiff_t>(t.offset + t.count));
      for (std::size_t k = 0; k < off.size(); ++k) off[k] -= theirs[k];
      EXPECT_LE(norm_of(off) / norm_of(theirs), 5e-4) << t.parameter.name;
    }
    on_cpu->step();
    on_gpu->step();
  }
  EXPECT_NEAR(evaluation_of(*on_gpu).loss / evaluation_of(*on_cpu).loss, 1, 1e-4);
}

}  // namespace
}  // namespace gv
