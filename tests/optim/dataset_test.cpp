#include "optim/dataset.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <zlib.h>

namespace gv {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Bytes idx_header(std::uint32_t magic, std::vector<std::uint32_t> dims) {
  Bytes bytes;
  dims.insert(dims.begin(), magic);
  for (const std::uint32_t v : dims) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(v >> shift));
  }
  return bytes;
}

Bytes images(std::uint32_t n) {
  Bytes bytes = idx_header(0x0803, {n, 2, 3});
  for (std::uint32_t k = 0; k < n * 6; ++k) bytes.push_back(static_cast<std::uint8_t>(k * 7));
  return bytes;
}

Bytes labels(std::uint32_t n) {
  Bytes bytes = idx_header(0x0801, {n});
  for (std::uint32_t k = 0; k < n; ++k) bytes.push_back(static_cast<std::uint8_t>(k % 3));
  return bytes;
}

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

class Idx : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::path(::testing::TempDir()) /
           ("idx-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    write(dir_ / "train-images-idx3-ubyte", images(5));
    write(dir_ / "train-labels-idx1-ubyte", labels(5));
    write(dir_ / "t10k-images-idx3-ubyte", images(3));
    write(dir_ / "t10k-labels-idx1-ubyte", labels(3));
  }
  std::string error() const {
    try {
      read_idx(dir_);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
  fs::path dir_;
};

TEST_F(Idx, ReadsPlainAndGzipped) {
  const TrainTest plain = read_idx(dir_);
  EXPECT_EQ(plain.train->rows, 5U);
  EXPECT_EQ(plain.train->features, 6U);
  EXPECT_EQ(plain.train->classes, 3U);
  EXPECT_EQ(plain.train->bytes[1], 7);
  const Bytes raw = images(5);
  fs::remove(dir_ / "train-images-idx3-ubyte");
  gzFile out = gzopen((dir_ / "train-images-idx3-ubyte.gz").c_str(), "wb");
  gzwrite(out, raw.data(), static_cast<unsigned>(raw.size()));
  gzclose(out);
  EXPECT_EQ(read_idx(dir_).train->bytes, plain.train->bytes);
}

TEST_F(Idx, GatherIsStandardized) {
  const TrainTest data = read_idx(dir_);
  std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  std::vector<float> out(30);
  data.train->gather(rows, out);
  double mean = 0;
  double square = 0;
  for (const float v : out) {
    mean += static_cast<double>(v) / 30;
    square += static_cast<double>(v) * static_cast<double>(v) / 30;
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-5);
  EXPECT_NEAR(out[7], (49.0F / 255 - data.train->shift) * data.train->scale, 1e-5);
}

TEST_F(Idx, EveryTruncationAndTrailingBytesAreRefused) {
  const Bytes whole = images(5);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(dir_ / "train-images-idx3-ubyte",
          Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_NE(error(), "") << length;
  }
  Bytes longer = whole;
  longer.push_back(0);
  write(dir_ / "train-images-idx3-ubyte", longer);
  EXPECT_NE(error(), "") << "trailing bytes";
}

TEST_F(Idx, LyingHeadersAreRefused) {
  Bytes huge = idx_header(0x0803, {0xffffffff, 28, 28});
  write(dir_ / "train-images-idx3-ubyte", huge);
  EXPECT_NE(error().find("impossible dimensions"), std::string::npos);
  write(dir_ / "train-images-idx3-ubyte", idx_header(0x0803, {2'000'000, 28, 28}));
  EXPECT_NE(error(), "") << "a header that promises more than there is";
  write(dir_ / "train-images-idx3-ubyte", labels(5));
  EXPECT_NE(error().find("magic"), std::string::npos);
  write(dir_ / "train-images-idx3-ubyte", images(4));
  EXPECT_NE(error().find("5 labels for 4 images"), std::string::npos);
  fs::remove(dir_ / "train-images-idx3-ubyte");
  EXPECT_NE(error().find("neither"), std::string::npos);
}

TEST(FashionMnist, HasItsSizes) {
  const std::string dir = "/usr/share/datasets/fashion-mnist";
  if (!fs::is_directory(dir)) GTEST_SKIP() << "Debian's dataset-fashion-mnist is not installed";
  const TrainTest data = read_idx(dir);
  EXPECT_EQ(data.train->rows, 60'000U);
  EXPECT_EQ(data.test->rows, 10'000U);
  for (std::uint8_t c = 0; c < 10; ++c) EXPECT_EQ(std::ranges::count(data.train->labels, c), 6000);
}

TEST(Digits, AreRepeatableBalancedAndDifferent) {
  const TrainTest a = draw_digits(200, 50, Rng(1));
  const TrainTest b = draw_digits(200, 50, Rng(1));
  const TrainTest c = draw_digits(200, 50, Rng(2));
  EXPECT_EQ(a.train->bytes, b.train->bytes);
  EXPECT_NE(a.train->bytes, c.train->bytes);
  for (std::uint8_t digit = 0; digit < 10; ++digit)
    EXPECT_EQ(std::ranges::count(a.train->labels, digit), 20);
}

TEST(Linear, HasItsOptimum) {
  const TrainTest data = make_linear(100, 10, 5, 0, Rng(4));
  for (std::size_t r = 0; r < 100; ++r) {
    double y = 0;
    for (std::size_t c = 0; c < 5; ++c) {
      y += static_cast<double>(data.train->floats[r * 5 + c]) *
           static_cast<double>(data.train->optimum[c]);
    }
    EXPECT_NEAR(y, static_cast<double>(data.train->targets[r]), 1e-5);
  }
}

}  // namespace
}  // namespace gv
