#include <cmath>

#include "gpu/device_plugin.h"
#include "gpu/kernels/codec_kernels.h"
#include "gpu/kernels/dot_kernels.h"
#include "optim/host/dot.h"
#include "tests/gpu/replica/replicas.h"

// Encodings of vectors longer than a replica's in these tests, and the memory next to vectors.

namespace gv::gpu {
namespace {

/// More than twice as many segments as a block has threads; the last one is not whole.
constexpr std::size_t large = 3'000'001;
constexpr std::size_t beside = 64;
constexpr std::byte untouched{0xA5};

std::vector<Codec> all_codecs() {
  return {{Codec::Kind::fp16},
          {Codec::Kind::bf16},
          {Codec::Kind::int8},
          {Codec::Kind::top_k, 0.01},
          {Codec::Kind::top_k, 0.3}};
}

class EncoderTest : public testing::Test {
 protected:
  void SetUp() override {
    GV_NEEDS_CUDA(cuda.missing());
    stream_ = std::make_unique<Stream>();
  }
  template <class T>
  DeviceArray<T> upload(const std::vector<T>& values) const {
    DeviceArray<T> there(values.size(), "a test");
    copy_async(there.data(), values.data(), values.size(), cudaMemcpyHostToDevice, *stream_);
    stream_->wait();
    return there;
  }
  template <class T>
  std::vector<T> download(const DeviceArray<T>& there) const {
    std::vector<T> values(there.size());
    copy_async(values.data(), there.data(), values.size(), cudaMemcpyDeviceToHost, *stream_);
    stream_->wait();
    return values;
  }
  /// Encodes and decodes, with guard bytes and floats on both sides.
  void expect_as_on_the_host(Encoder& encoder, const Codec& codec, const std::vector<float>& v) {
    const std::size_t bytes = codec.bytes(v.size());
    std::vector<std::byte> expected(bytes + beside, untouched);
    encode(codec, v, std::span(expected).first(bytes));
    const DeviceArray<float> values = upload(v);
    DeviceArray<std::byte> encoding = upload(std::vector<std::byte>(bytes + beside, untouched));
    encoder.encode(codec, values.data(), v.size(), encoding.data(), *stream_);
    ASSERT_TRUE(download(encoding) == expected) << static_cast<int>(codec.kind);

    std::vector<float> back(v.size() + beside, 17.0F);
    DeviceArray<float> decoded = upload(back);
    decode(codec, std::span(expected).first(bytes), std::span(back).first(v.size()));
    encoder.decode(codec, encoding.data(), decoded.data(), v.size(), *stream_);
    ASSERT_TRUE(download(decoded) == back) << static_cast<int>(codec.kind);
  }

  std::unique_ptr<Stream> stream_;
};

TEST_F(EncoderTest, LargeVectorsAndThenShortOnes) {
  const std::vector<float> random = normal(large, 1);
  std::vector<float> ties = random;
  for (float& value : ties) value = std::round(4 * value) / 4;
  Encoder encoder;
  for (const Codec& codec : all_codecs()) {
    expect_as_on_the_host(encoder, codec, random);
    expect_as_on_the_host(encoder, codec, ties);
    expect_as_on_the_host(encoder, codec, {random.begin(), random.begin() + 257});
    expect_as_on_the_host(encoder, codec, std::vector<float>(5000, -1.0F));  // only ties
  }
}

/// A longer vector needs more room, while the room of a shorter one is still in use.
TEST_F(EncoderTest, GrowsWhenWhatIsUnderWayIsDone) {
  const Codec codec{Codec::Kind::top_k, 0.1};
  Encoder encoder;
  std::vector<std::vector<std::byte>> expected;
  std::vector<DeviceArray<float>> from;
  std::vector<DeviceArray<std::byte>> to;
  for (const std::size_t count : {300U, 20'000U}) {
    const std::vector<float> v = normal(count, count);
    expected.emplace_back(codec.bytes(count));
    encode(codec, v, expected.back());
    from.push_back(upload(v));
    to.push_back(upload(std::vector<std::byte>(codec.bytes(count))));
  }
  for (std::size_t k = 0; k < from.size(); ++k)
    encoder.encode(codec, from[k].data(), from[k].size(), to[k].data(), *stream_);
  for (std::size_t k = 0; k < from.size(); ++k) EXPECT_TRUE(download(to[k]) == expected[k]) << k;
}

TEST_F(EncoderTest, DotOfLargeVectors) {
  const std::vector<float> a = normal(large, 1);
  const std::vector<float> b = normal(large, 2);
  const DeviceArray<float> on_a = upload(a);
  const DeviceArray<float> on_b = upload(b);
  Dot dot(large, *stream_);
  EXPECT_EQ(dot.of(on_a.data(), on_b.data(), large), gv::dot(a, b));
  EXPECT_EQ(dot.of(on_a.data(), on_a.data(), 100), gv::dot({a.data(), 100}, {a.data(), 100}));
}

}  // namespace
}  // namespace gv::gpu
