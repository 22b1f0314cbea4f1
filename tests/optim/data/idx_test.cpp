#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include "optim/data/dataset.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
using FileBytes = std::vector<std::uint8_t>;

FileBytes idx_header(std::uint32_t magic, std::vector<std::uint32_t> dims) {
  FileBytes bytes;
  dims.insert(dims.begin(), magic);
  for (const std::uint32_t v : dims) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(v >> shift));
  }
  return bytes;
}

FileBytes images(std::uint32_t n) {
  FileBytes bytes = idx_header(0x0803, {n, 2, 3});
  for (std::uint32_t k = 0; k < n * 6; ++k) bytes.push_back(static_cast<std::uint8_t>(k * 7));
  return bytes;
}

FileBytes labels(std::uint32_t n) {
  FileBytes bytes = idx_header(0x0801, {n});
  for (std::uint32_t k = 0; k < n; ++k) bytes.push_back(static_cast<std::uint8_t>(k % 3));
  return bytes;
}

void write(const fs::path& path, const FileBytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

FileBytes zipped(const fs::path& scratch, const FileBytes& bytes) {
  gzFile out = gzopen(scratch.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  std::ifstream in(scratch, std::ios::binary);
  return FileBytes(std::istreambuf_iterator<char>(in), {});
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Idx : public ::testing::Test {
 protected:
  void SetUp() override {
    write(train_images(), images(5));
    write(train_labels(), labels(5));
    write(dir_ / "t10k-images-idx3-ubyte", images(3));
    write(dir_ / "t10k-labels-idx1-ubyte", labels(3));
  }

  fs::path train_images() const { return dir_ / "train-images-idx3-ubyte"; }
  fs::path train_labels() const { return dir_ / "train-labels-idx1-ubyte"; }

  std::string error() const {
    try {
      read_idx(dir_);
    } catch (const std::runtime_error& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("; take the four files"), std::string::npos) << "no remedy: " << what;
      return what;
    }
    return "";
  }
  bool error_has(const std::string& text) const { return error().find(text) != std::string::npos; }
  void expect_every_truncation_refused(const fs::path& path, const FileBytes& whole) const {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write(path, FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
      EXPECT_TRUE(error_has(path)) << length << " of " << whole.size() << ": " << error();
    }
    write(path, whole);
    EXPECT_EQ(error(), "");
  }
  ScratchFolder scratch_;
  fs::path dir_ = scratch_.path();
};

TEST_F(Idx, ReadsPlainAndGzipped) {
  const TrainTest plain = read_idx(dir_);
  EXPECT_EQ(plain.train->rows, 5U);
  EXPECT_EQ(plain.test->rows, 3U);
  EXPECT_EQ(plain.train->features, 6U);
  EXPECT_EQ(plain.train->classes, 3U);
  EXPECT_EQ(plain.train->image, (ImageShape{1, 2, 3}));
  const FileBytes raw = images(5);
  EXPECT_TRUE(std::equal(raw.begin() + 16, raw.end(), plain.train->bytes.begin()));
  EXPECT_EQ(plain.train->labels, (FileBytes{0, 1, 2, 0, 1}));
  fs::remove(train_images());
  write(train_images() += ".gz", zipped(dir_ / "scratch", raw));
  EXPECT_EQ(read_idx(dir_).train->bytes, plain.train->bytes);
}

TEST_F(Idx, GatherFollowsTheFormulaAndIsStandardized) {
  const TrainTest data = read_idx(dir_);
  const Dataset& train = *data.train;
  const std::vector<std::uint32_t> rows{4, 0, 2, 1, 3};
  std::vector<float> out(30);
  train.gather(rows, out);
  double mean = 0;
  double square = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double pixel = train.bytes[rows[k / 6] * 6 + k % 6] / 255.0;
    const auto value = static_cast<double>(out[k]);
    EXPECT_NEAR(value, (pixel - double{train.shift[0]}) * double{train.scale[0]}, 1e-6);
    mean += value / 30;
    square += value * value / 30;
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-5);
  EXPECT_EQ(data.test->shift, train.shift);  // the test set uses the training set's constants
  EXPECT_EQ(data.test->scale, train.scale);
}

TEST_F(Idx, EveryTruncationIsRefused) {
  expect_every_truncation_refused(train_images(), images(5));
  expect_every_truncation_refused(train_labels(), labels(5));
}

TEST_F(Idx, EveryTruncationOfGzipIsRefused) {
  fs::remove(train_images());
  fs::remove(train_labels());
  write(train_labels() += ".gz", zipped(dir_ / "scratch", labels(5)));
  expect_every_truncation_refused(train_images() += ".gz", zipped(dir_ / "scratch", images(5)));
  expect_every_truncation_refused(train_labels() += ".gz", zipped(dir_ / "scratch", labels(5)));
}

TEST_F(Idx, TrailingBytesAreRefused) {
  FileBytes longer = images(5);
  longer.push_back(0);
  write(train_images(), longer);
  EXPECT_TRUE(error_has("has 47 bytes, its header promises 46")) << error();
  fs::remove(train_images());
  write(train_images() += ".gz", zipped(dir_ / "scratch", longer));
  EXPECT_TRUE(error_has("continues after the 30 bytes")) << error();
}

/// A flipped bit is refused or was in padding: the data are never wrong.
TEST_F(Idx, DamagedGzipIsRefused) {
  const ByteTable pixels = read_idx(dir_).train->bytes;
  fs::remove(train_images());
  const FileBytes whole = zipped(dir_ / "scratch", images(5));
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    FileBytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    write(train_images() += ".gz", damaged);
    if (error().empty()) {
      EXPECT_EQ(read_idx(dir_).train->bytes, pixels) << bit;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, std::ssize(whole) * 8 / 2);
}

TEST_F(Idx, LyingHeadersAreRefusedWithoutMemory) {
  const long before = peak_kilobytes();
  for (const auto& dims : std::vector<std::vector<std::uint32_t>>{
           {0xffffffff, 28, 28}, {0, 28, 28}, {5, 0, 28}, {5, 65536, 65536}, {3'000'000, 28, 28}}) {
    write(train_images(), idx_header(0x0803, dims));
    EXPECT_TRUE(error_has("impossible dimensions: " + std::to_string(dims[0]))) << error();
  }
  const FileBytes liar = idx_header(0x0803, {2'000'000, 28, 28});
  const FileBytes label_liar = idx_header(0x0801, {2'000'000});
  write(train_images(), liar);
  write(train_labels(), label_liar);
  EXPECT_TRUE(error_has("has 16 bytes, its header promises 1568000016")) << error();
  fs::remove(train_images());
  write(train_images() += ".gz", zipped(dir_ / "scratch", liar));
  write(train_labels(), labels(5));
  EXPECT_TRUE(error_has("5 labels for 2000000 images")) << error();
  FileBytes many = label_liar;
  many.resize(8 + 2'000'000);
  write(train_labels(), many);
  EXPECT_TRUE(error_has("truncated: 0 bytes of 1568000000")) << error();
  EXPECT_LT(peak_kilobytes() - before, 200'000);
}

TEST_F(Idx, WrongFilesAreNamed) {
  write(train_images(), labels(5));
  EXPECT_TRUE(error_has("magic")) << error();
  write(train_images(), images(4));
  EXPECT_TRUE(error_has("5 labels for 4 images")) << error();
  write(train_images(), images(5));
  write(dir_ / "t10k-images-idx3-ubyte", idx_header(0x0803, {3, 1, 1}));
  EXPECT_TRUE(error_has("t10k-images-idx3-ubyte: ")) << error();
  fs::remove(train_images());
  EXPECT_TRUE(error_has("neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz"));
}

TEST_F(Idx, TestImagesOfAnotherShapeAreRefused) {
  FileBytes turned = idx_header(0x0803, {3, 3, 2});
  turned.resize(16 + 18);
  write(dir_ / "t10k-images-idx3-ubyte", turned);
  EXPECT_TRUE(error_has("training images are 2 x 3, test images 3 x 2")) << error();
}

TEST(FashionMnist, HasItsSizes) {
  const std::string dir = "/usr/share/datasets/fashion-mnist";
  if (!fs::is_directory(dir)) GTEST_SKIP() << "Debian's dataset-fashion-mnist is not installed";
  const TrainTest data = read_idx(dir);
  EXPECT_EQ(data.train->rows, 60'000U);
  EXPECT_EQ(data.test->rows, 10'000U);
  EXPECT_EQ(data.train->features, 784U);
  EXPECT_EQ(data.test->features, 784U);
  EXPECT_EQ(data.train->classes, 10U);
  for (std::uint8_t c = 0; c < 10; ++c) {
    EXPECT_EQ(std::ranges::count(data.train->labels, c), 6000);
    EXPECT_EQ(std::ranges::count(data.test->labels, c), 1000);
  }
}

}  // namespace
}  // namespace gv
