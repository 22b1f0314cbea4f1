#include "gpu/device/arithmetic.h"

#include <limits>
#include <numeric>

#include "optim/data/dataset.h"
#include "optim/host/network_objective.h"
#include "tests/gpu/replica/replicas.h"

// The functions that the kernels call, compiled for this host: they must give the bits of the CPU's
// own arithmetic.

namespace gv::gpu {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST(GpuArithmetic, KnowsWhatIsFinite) {
  for (const float value : {0.0F, -0.0F, 1e-42F, 1.0F, -3e38F}) EXPECT_TRUE(is_finite(value));
  for (const float value : {infinite, -infinite, not_a_number, -not_a_number})
    EXPECT_FALSE(is_finite(value));
}

TEST(GpuArithmetic, MixesToTheBitAsTheHost) {
  ModelSpec softmax;
  softmax.kind = "softmax";
  const auto replica = host.make(softmax, digits_share(), {}, 8, Rng(1));
  const std::size_t d = replica->size();
  replica->load(Vector::x, {0, d}, *payload(normal(d, 1)));
  std::vector<std::vector<float>> theirs{normal(d, 2), normal(d, 3), normal(d, 4)};
  theirs[1][5] = not_a_number;
  theirs[2][4000] = infinite;
  theirs[0][17] = 1e-41F;  // denormal
  theirs[0][18] = std::numeric_limits<float>::max();
  const std::vector<float> weights{0.25F, 0.125F, 1.0F / 3};
  std::vector<float> x = values(*replica);
  for (std::size_t k = 0; k < d; ++k) {
    float sum = 0;
    for (std::size_t j = 0; j < theirs.size(); ++j) sum += flow(weights[j], theirs[j][k], x[k]);
    x[k] += sum;
  }
  Flows flows;
  flows.weights = weights;
  for (const std::vector<float>& vector : theirs) flows.vectors.push_back(payload(vector));
  EXPECT_EQ(replica->mix({0, d}, flows), (NotFinite{1, 2}));
  EXPECT_EQ(values(*replica), x);
}

TEST(GpuArithmetic, FlowsAreBitwiseOpposite) {
  const std::vector<float> a = normal(10'000, 1);
  const std::vector<float> b = normal(10'000, 2);
  for (std::size_t k = 0; k < a.size(); ++k)
    ASSERT_EQ(flow(0.3F, a[k], b[k]), -flow(0.3F, b[k], a[k]));
}

TEST(GpuArithmetic, CrossEntropyToTheBitAsTheHost) {
  constexpr std::uint32_t classes = 10;
  constexpr std::uint32_t rows = 64;
  std::vector<float> z = normal(rows * classes, 5);
  for (float& value : z) value *= 20;
  std::vector<std::uint8_t> labels(rows);
  for (std::uint32_t r = 0; r < rows; ++r) labels[r] = static_cast<std::uint8_t>(r * 7 % classes);
  std::vector<float> expected = z;
  const double mean = softmax_cross_entropy(expected, labels, classes);
  const Score scored = score_logits(z, labels, classes);
  double loss = 0;
  double score = 0;
  std::uint64_t right = 0;
  for (std::uint32_t r = 0; r < rows; ++r) {
    bool correct = false;
    score += score_row(z.data() + r * classes, labels[r], classes, correct);
    right += correct ? 1 : 0;
    loss += cross_entropy_row(z.data() + r * classes, labels[r], classes, 1.0F / rows);
  }
  EXPECT_EQ(z, expected);
  EXPECT_EQ(loss / rows, mean);
  EXPECT_EQ(score, scored.loss);
  EXPECT_EQ(right, scored.correct);
}

TEST(GpuArithmetic, PixelsToTheBitAsTheHost) {
  const Dataset& data = *digits_share().train;
  std::vector<std::uint32_t> rows(20);
  std::iota(rows.begin(), rows.end(), 3U);
  std::vector<float> expected(rows.size() * data.features);
  data.gather(rows, expected);
  ASSERT_FALSE(data.bytes.empty());
  const std::size_t plane = data.features / data.shift.size();
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::size_t c = k % data.features;
    const std::uint8_t byte = data.bytes[rows[k / data.features] * data.features + c];
    ASSERT_EQ(widen(byte, data.shift[c / plane], data.scale[c / plane]), expected[k]);
  }
}

TEST(GpuArithmetic, ViewsShowWhatTheHostShows) {
  const ImageShape shape{.channels = 2, .height = 7, .width = 9};
  const std::vector<float> picture = normal(2 * 63, 3);
  for (const View view : {View{}, View{-4, 4, true}, View{3, -4, false}, View{1, 2, true}}) {
    std::vector<float> expected(picture.size());
    look(view, shape, picture, expected);
    for (std::int32_t k = 0; k < 2 * 63; ++k) {
      const std::int64_t from = seen(view, 7, 9, k % 63 / 9, k % 9);
      const float value = from < 0 ? 0 : picture[static_cast<std::size_t>(k / 63 * 63 + from)];
      ASSERT_EQ(value, expected[static_cast<std::size_t>(k)]);
    }
  }
}

}  // namespace
}  // namespace gv::gpu
