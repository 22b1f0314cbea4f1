#include <algorithm>
#include <limits>

#include "gpu/device_plugin.h"
#include "gpu/kernels/sample_kernels.h"
#include "optim/data/dataset.h"
#include "tests/gpu/replica/replicas.h"

namespace gv::gpu {
namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr std::uint32_t most_rows = 40;

/// Returns pictures of two channels, as bytes or as floats.
std::shared_ptr<const Dataset> pictures(bool by_bytes) {
  auto data = std::make_shared<Dataset>();
  data->rows = 300;
  data->image = {.channels = 2, .height = 5, .width = 7};
  data->features = 70;
  data->classes = 10;
  data->shift = {0.25F, 0.5F};
  data->scale = {3, 5};
  Rng rng(1);
  for (std::uint32_t k = 0; k < data->rows * data->features; ++k) {
    if (by_bytes)
      data->bytes.own().push_back(static_cast<std::uint8_t>(rng.below(256)));
    else
      data->floats.push_back(static_cast<float>(rng.uniform()));
  }
  for (std::uint32_t r = 0; r < data->rows; ++r)
    data->labels.push_back(static_cast<std::uint8_t>(rng.below(10)));
  return data;
}

std::shared_ptr<const Dataset> text() {
  auto data = std::make_shared<Dataset>();
  data->context = data->features = 12;
  data->rows = 300;
  data->classes = 50;
  data->vocabulary.resize(50);
  Rng rng(2);
  for (std::uint32_t k = 0; k < data->rows + data->context; ++k)
    data->tokens.push_back(static_cast<std::uint8_t>(rng.below(50)));
  return data;
}

/// Destination of a minibatch, and the stream that fills it.
struct Desk {
  explicit Desk(const Dataset& data)
      : inputs(std::size_t{most_rows} * data.features, "inputs"),
        tokens(std::size_t{most_rows} * data.features, "tokens"),
        labels(std::size_t{most_rows} * data.features, "labels") {}

  Gathered to() {
    return {.input = inputs.data(), .tokens = tokens.data(), .labels = labels.data()};
  }
  template <class T>
  std::vector<T> read(const DeviceArray<T>& from, std::size_t count) const {
    std::vector<T> values(count);
    copy_async(values.data(), from.data(), count, cudaMemcpyDeviceToHost, stream);
    stream.wait();
    return values;
  }

  DeviceArray<float> inputs;
  DeviceArray<std::uint8_t> tokens, labels;
  Stream stream;
};

/// Returns a peer's share: every third row, from the last one on.
std::vector<std::uint32_t> own_rows() {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t k = 0; k < 100; ++k) rows.push_back(299 - 3 * k);
  return rows;
}

std::vector<std::uint32_t> random_rows(std::uint32_t count, Rng& rng) {
  static const std::vector<std::uint32_t> own = own_rows();
  std::vector<std::uint32_t> rows;
  for (std::uint32_t k = 0; k < count; ++k) rows.push_back(own[rng.below(own.size())]);
  return rows;
}

class SamplesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(cuda.missing()); }
  static Samples make(const std::shared_ptr<const Dataset>& data) {
    return {data, own_rows(), most_rows, GetParam() ? everything : 0};
  }
};

/// Expects the desk to hold the result of Dataset::gather.
void expect_gathered(Desk& desk,
                     const Dataset& data,
                     const std::vector<std::uint32_t>& rows,
                     const std::vector<View>& views) {
  const std::size_t count = rows.size() * data.features;
  if (data.is_text()) {
    std::vector<std::uint8_t> inputs(count);
    std::vector<std::uint8_t> following(count);
    data.gather_windows(rows, inputs, following);
    EXPECT_EQ(desk.read(desk.tokens, count), inputs);
    EXPECT_EQ(desk.read(desk.labels, count), following);
    return;
  }
  std::vector<float> inputs(count);
  data.gather(rows, views, inputs);
  EXPECT_EQ(desk.read(desk.inputs, count), inputs);
  std::vector<std::uint8_t> labels;
  for (const std::uint32_t row : rows) labels.push_back(data.labels[row]);
  EXPECT_EQ(desk.read(desk.labels, rows.size()), labels);
}

/// One batch is sent while the previous one is put: they must not overwrite each other.
TEST_P(SamplesTest, AreThoseThatTheHostGathers) {
  for (const auto& data : {pictures(true), pictures(false), text()}) {
    Samples samples = make(data);
    ASSERT_EQ(samples.resident(), GetParam());
    Desk desk(*data);
    Rng rng(3);
    std::vector<std::uint32_t> rows = random_rows(33, rng);
    std::vector<View> views;
    samples.send(0, rows);
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned place = k % Samples::places;
      samples.hold(place, desk.stream);
      samples.put(place, desk.to(), desk.stream);
      const std::vector<std::uint32_t> next = random_rows(30 + k, rng);
      std::vector<View> next_views;
      if (!data->is_text() && k % 3 != 0)
        for (std::size_t r = 0; r < next.size(); ++r)
          next_views.push_back(draw_view({.crop = true, .flip = true}, rng));
      samples.send(1 - place, next, next_views);
      expect_gathered(desk, *data, rows, views);
      rows = next;
      views = next_views;
    }
  }
}

TEST_P(SamplesTest, APlaceMayBeSentAgainBeforeItIsPut) {
  const auto data = pictures(true);
  Samples samples = make(data);
  Desk desk(*data);
  Rng rng(4);
  std::vector<std::uint32_t> rows;
  for (int k = 0; k < 20; ++k) {
    rows = random_rows(most_rows, rng);
    samples.send(0, rows);
  }
  samples.hold(0, desk.stream);
  samples.put(0, desk.to(), desk.stream);
  expect_gathered(desk, *data, rows, {});
}

INSTANTIATE_TEST_SUITE_P(Every, SamplesTest, testing::Bool(), [](const auto& row) {
  return row.param ? "resident" : "streamed";
});

}  // namespace
}  // namespace gv::gpu
