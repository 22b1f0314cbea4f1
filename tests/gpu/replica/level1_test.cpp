#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "optim/host/dot.h"
#include "tests/gpu/replica/replicas.h"

// Operations on vectors and their encodings, by their definitions, on every replica: the same bits
// everywhere.

namespace gv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Level1Test : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    GV_NEEDS_CUDA(GetParam().missing());
    ModelSpec model;
    model.kind = "mlp";
    model.values["hidden"] =
        Widths{170};  // 135,160 parameters: more than one segment, and not a whole number
    replica_ = GetParam().make(model, digits_share(), {}, 16, Rng(3));
    x_ = normal(replica_->size(), 1);
    g_ = normal(replica_->size(), 2);
    put(Vector::x, x_);
    put(Vector::g, g_);
  }
  void put(Vector v, const std::vector<float>& to) {
    replica_->load(v, {0, to.size()}, *payload(to));
  }
  std::vector<Range> ranges() const {
    return {{0, x_.size()}, {0, 0}, {7, 1}, {3, 4096}, {4095, 4098}, {x_.size() - 513, 513}};
  }

  std::unique_ptr<Replica> replica_;
  std::vector<float> x_, g_;
};

std::span<const float> part(const std::vector<float>& v, Range r) {
  return std::span(v).subspan(r.begin, r.count);
}

TEST_P(Level1Test, AxpbyIsTwoProductsAndASum) {
  for (const Range r : ranges()) {
    put(Vector::x, x_);
    replica_->axpby(0.3F, Vector::g, -1.7F, Vector::x, r);
    std::vector<float> expected = x_;
    for (std::size_t k = r.begin; k < r.begin + r.count; ++k)
      expected[k] = 0.3F * g_[k] + -1.7F * x_[k];
    ASSERT_EQ(values(*replica_), expected) << r.begin;
    ASSERT_EQ(values(*replica_, Vector::g), g_);
  }
}

TEST_P(Level1Test, AxpbyOfAVectorAndItself) {
  replica_->axpby(0.5F, Vector::g, 2.0F, Vector::g, {0, g_.size()});
  std::vector<float> expected = g_;
  for (float& value : expected) value = 0.5F * value + 2.0F * value;
  EXPECT_EQ(values(*replica_, Vector::g), expected);
}

TEST_P(Level1Test, AxpbyWithoutBIsACopyWhateverStoodThere) {
  put(Vector::x, std::vector<float>(x_.size(), nan));
  replica_->axpby(1, Vector::g, 0, Vector::x, {0, x_.size()});
  EXPECT_EQ(values(*replica_), g_);
}

TEST_P(Level1Test, AVectorHasItsNameAndBeginsAtZero) {
  const Vector m = replica_->vector("momentum");
  const Vector of_2 = replica_->vector("momentum", 2);
  EXPECT_EQ(values(*replica_, m), std::vector<float>(x_.size(), 0));
  EXPECT_EQ(replica_->vector("momentum"), m);
  EXPECT_EQ(replica_->vector("momentum", 2), of_2);
  EXPECT_NE(m, of_2);
  replica_->axpby(1, Vector::x, 0, m, {0, x_.size()});
  replica_->axpby(-2, m, 0, of_2, {0, x_.size()});
  std::vector<float> expected = x_;
  for (float& value : expected) value *= -2;
  EXPECT_EQ(values(*replica_, m), x_);
  EXPECT_EQ(values(*replica_, of_2), expected);
  EXPECT_EQ(values(*replica_, Vector::g), g_);
  EXPECT_EQ(replica_->dot(m, of_2, {0, x_.size()}), dot(x_, expected));
}

TEST_P(Level1Test, ANamedVectorIsSavedUnderItsName) {
  replica_->load(replica_->vector("c", 1), {0, g_.size()}, *payload(g_));
  replica_->scalar("w") = 0.5;
  StateWriter out;
  replica_->save(out);
  for (const Implementation& other : {GetParam(), host}) {
    ModelSpec model;
    model.kind = "mlp";
    model.values["hidden"] = Widths{170};
    const auto second = other.make(model, digits_share(), {}, 16, Rng(4));
    StateReader in(out.bytes());
    second->restore(in);
    EXPECT_EQ(values(*second, second->vector("c", 1)), g_);
    EXPECT_EQ(values(*second), x_);
    EXPECT_EQ(second->scalar("w"), 0.5);
  }
}

TEST_P(Level1Test, DotAndNormHaveTheBitsOfTheirOrder) {
  for (const Range r : ranges()) {
    EXPECT_EQ(replica_->dot(Vector::x, Vector::g, r), dot(part(x_, r), part(g_, r)));
    EXPECT_EQ(replica_->dot(Vector::g, Vector::g, r), dot(part(g_, r), part(g_, r)));
    EXPECT_EQ(replica_->norm(Vector::x, r), std::sqrt(dot(part(x_, r), part(x_, r))));
  }
}

TEST_P(Level1Test, ADotProductIsRepeatable) {
  const Range all{0, x_.size()};
  const double first = replica_->dot(Vector::x, Vector::g, all);
  for (int again = 0; again < 5; ++again)
    EXPECT_EQ(replica_->dot(Vector::x, Vector::g, all), first);
}

TEST_P(Level1Test, TheNormOfTheLargestFloatsIsFinite) {
  const float most = std::numeric_limits<float>::max();
  put(Vector::x, {most, -most, most, -most});
  EXPECT_EQ(replica_->norm(Vector::x, {0, 4}), 2 * static_cast<double>(most));
}

TEST_P(Level1Test, TheNormOfWhatIsNotFiniteIsNotFinite) {
  put(Vector::x, {1, nan});
  EXPECT_TRUE(std::isnan(replica_->norm(Vector::x, {0, x_.size()})));
  put(Vector::x, {1, -infinity});
  EXPECT_EQ(replica_->norm(Vector::x, {0, x_.size()}), infinity);
}

std::vector<Codec> codecs() {
  return {{Codec::Kind::fp16},
          {Codec::Kind::bf16},
          {Codec::Kind::int8},
          {Codec::Kind::top_k, 1e-9},
          {Codec::Kind::top_k, 0.01},
          {Codec::Kind::top_k, 0.4},
          {Codec::Kind::top_k, 1.0},
          {.kind = Codec::Kind::random_k, .fraction = 0.1},
          {.kind = Codec::Kind::random_k, .fraction = 0.01, .draw = 5},
          {Codec::Kind::sign},
          {Codec::Kind::two_bit, 0.02}};
}

/// Returns inputs that codecs must take: all sizes, ties, zeros, subnormals, not finite values.
std::vector<std::vector<float>> hard_vectors(std::size_t n) {
  std::vector<float> sizes = normal(n, 5);
  Rng rng(6);
  for (float& value : sizes) value = std::ldexp(value, static_cast<int>(rng.below(270)) - 150);
  std::vector<float> bad = normal(n, 7);
  for (const std::size_t k : {std::size_t{0}, std::size_t{5000}, n - 1}) bad[k] = nan;
  bad[300] = infinity;
  bad[9000] = -infinity;
  bad[12'000] = std::numeric_limits<float>::max();
  bad[16'000] = -nan;
  std::vector<float> ties(n);
  for (std::size_t k = 0; k < n; ++k)
    ties[k] = static_cast<float>(k * 7 % 5) * (k % 2 == 0 ? 1.0F : -1.0F);
  return {normal(n, 8), sizes, bad, ties, std::vector<float>(n, 0.0F)};
}

/// Returns the bits, so that NaN can be compared.
std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> out;
  for (const float value : values) out.push_back(std::bit_cast<std::uint32_t>(value));
  return out;
}

TEST_P(Level1Test, EncodesToTheBytesOfTheDefinition) {
  for (const std::vector<float>& vector : hard_vectors(x_.size())) {
    put(Vector::g, vector);
    for (const Codec& codec : codecs()) {
      for (const Range r : ranges()) {
        Buffer expected(codec.bytes(r.count));
        encode(codec, part(vector, r), {expected.data(), expected.size()});
        Buffer out(codec.bytes(r.count));
        replica_->encode(codec, Vector::g, r, out);
        ASSERT_TRUE(std::equal(out.data(), out.data() + out.size(), expected.data()))
            << static_cast<int>(codec.kind) << " " << codec.fraction << ", from " << r.begin;
      }
    }
  }
}

TEST_P(Level1Test, DecodesToTheBitsOfTheDefinition) {
  for (const std::vector<float>& vector : hard_vectors(x_.size())) {
    for (const Codec& codec : codecs()) {
      for (const Range r : ranges()) {
        Buffer in(codec.bytes(r.count));
        encode(codec, part(vector, r), {in.data(), in.size()});
        std::vector<float> expected = x_;
        decode(codec, {in.data(), in.size()}, std::span(expected).subspan(r.begin, r.count));
        put(Vector::x, x_);
        ASSERT_TRUE(replica_->decode(codec, Vector::x, r, in));
        ASSERT_EQ(bits(values(*replica_)), bits(expected))
            << static_cast<int>(codec.kind) << " " << codec.fraction << ", from " << r.begin;
      }
    }
  }
}

TEST_P(Level1Test, DecodesEveryWordOfSixteenBits) {
  for (const Codec::Kind kind : {Codec::Kind::fp16, Codec::Kind::bf16}) {
    Buffer words(2 * 65'536);
    for (std::uint32_t w = 0; w < 65'536; ++w) {
      words.data()[2 * w] = static_cast<std::byte>(w & 255);
      words.data()[2 * w + 1] = static_cast<std::byte>(w >> 8);
    }
    std::vector<float> expected = x_;
    decode({kind}, {words.data(), words.size()}, std::span(expected).first(65'536));
    ASSERT_TRUE(replica_->decode({kind}, Vector::x, {0, 65'536}, words));
    EXPECT_EQ(bits(values(*replica_)), bits(expected));
  }
}

TEST_P(Level1Test, RefusesWhatIsNoEncodingAndKeepsItsVector) {
  Buffer few(7);
  Buffer beyond(8);  // one element of 100 with index 100, which is too large
  const Kept kept{100, 1.0F};
  std::memcpy(beyond.data(), &kept, sizeof kept);
  for (const Codec& codec : codecs())
    EXPECT_FALSE(replica_->decode(codec, Vector::x, {0, 100}, few));
  EXPECT_FALSE(replica_->decode({Codec::Kind::top_k, 0.01}, Vector::x, {0, 100}, beyond));
  EXPECT_EQ(values(*replica_), x_);
}

INSTANTIATE_TEST_SUITE_P(Every, Level1Test, testing::Values(host, cuda), [](const auto& row) {
  return row.param.name;
});

}  // namespace
}  // namespace gv
