#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/data/sets/image_sets.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pixels = 3072;

std::uint8_t pixel(std::size_t record, std::size_t p) {
  return static_cast<std::uint8_t>(record * 31 + p * 7);
}

/// Returns `records` records of 3073 bytes, from record `first` of the data set on.
std::string batch(std::size_t first, std::size_t records) {
  std::string bytes;
  for (std::size_t r = first; r < first + records; ++r) {
    bytes.push_back(static_cast<char>(r % 10));
    for (std::size_t p = 0; p < pixels; ++p) bytes.push_back(static_cast<char>(pixel(r, p)));
  }
  return bytes;
}

std::string row(std::size_t r) {
  std::string text = std::to_string(r % 10);
  for (std::size_t p = 0; p < pixels; ++p) text.append(1, ',').append(std::to_string(pixel(r, p)));
  return text + "\n";
}

class Cifar10 : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(dir_ / name, std::ios::binary) << bytes;
  }
  void write_batches() const {
    for (std::size_t b = 0; b < 5; ++b)
      write("data_batch_" + std::to_string(b + 1) + ".bin", batch(2 * b, 2));
    write("test_batch.bin", batch(20, 2));
  }
  TrainTest read() const { return read_cifar10(dir_.string(), 2); }
  /// Expects an error of the reader that names the file, or its line, and continues with `text`.
  void expect_error(const std::string& where, const std::string& text) const {
    try {
      read();
      ADD_FAILURE() << "read without complaint; expected " << where << " ... " << text;
    } catch (const std::runtime_error& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.rfind((where.empty() ? dir_ : dir_ / where).string() + ": ", 0), 0U) << what;
      EXPECT_NE(what.find(text), std::string::npos) << what;
      EXPECT_NE(what.find("; "), std::string::npos) << "no remedy: " << what;
    }
  }

  ScratchFolder scratch_;
  fs::path dir_ = scratch_.path();
};

TEST_F(Cifar10, ReadsTheBinaryVersion) {
  write_batches();
  const TrainTest data = read();
  EXPECT_EQ(data.train->rows, 10U);
  EXPECT_EQ(data.test->rows, 2U);
  EXPECT_EQ(data.train->features, pixels);
  EXPECT_EQ(data.train->classes, 10U);
  EXPECT_EQ(data.train->image, (ImageShape{3, 32, 32}));
  for (std::size_t r = 0; r < 10; ++r) {
    EXPECT_EQ(data.train->labels[r], r);
    for (std::size_t p = 0; p < pixels; ++p)
      ASSERT_EQ(data.train->bytes[r * pixels + p], pixel(r, p));
  }
  EXPECT_EQ(data.test->labels[1], 1);
  EXPECT_EQ(data.test->bytes[pixels + 5], pixel(21, 5));
}

/// Checks the defining equation, with each channel's constants.
TEST_F(Cifar10, NormalizesEachChannel) {
  write_batches();
  const TrainTest data = read();
  constexpr std::array<double, 3> mean{0.4914, 0.4822, 0.4465};
  constexpr std::array<double, 3> deviation{0.2470, 0.2435, 0.2616};
  std::vector<float> out(pixels);
  data.test->gather(std::vector<std::uint32_t>{1}, out);
  for (std::size_t p = 0; p < pixels; ++p) {
    const std::size_t c = p / 1024;
    const double expected = (pixel(21, p) / 255.0 - mean.at(c)) / deviation.at(c);
    ASSERT_NEAR(static_cast<double>(out[p]), expected, 2e-3) << p;
  }
}

TEST_F(Cifar10, RefusesBinaryFilesOfAnotherSize) {
  write_batches();
  for (const std::size_t length : {0U, 1U, 3072U, 3073U, 3074U, 6145U, 6147U, 9219U}) {
    std::string bytes = batch(0, 3);
    bytes.resize(length);
    write("data_batch_3.bin", bytes);
    expect_error("data_batch_3.bin", "has " + std::to_string(length) + " bytes");
  }
  expect_error("data_batch_3.bin", "3 records instead of 2 records of 3073 bytes");
  write("data_batch_3.bin", batch(0, 1) + "x");
  expect_error("data_batch_3.bin", "1 records and 1 bytes instead of 2 records");
}

TEST_F(Cifar10, RefusesLabelsAboveNine) {
  write_batches();
  std::string bytes = batch(20, 2);
  bytes[3073] = 10;
  write("test_batch.bin", bytes);
  expect_error("test_batch.bin", "the label at byte 3073 (record 1) is 10");
  bytes[3073] = static_cast<char>(255);
  write("test_batch.bin", bytes);
  expect_error("test_batch.bin", "is 255");
}

TEST_F(Cifar10, NamesTheFileThatIsMissing) {
  expect_error("", "has neither data_batch_1.bin nor train.csv");
  write_batches();
  fs::remove(dir_ / "data_batch_4.bin");
  expect_error("data_batch_4.bin", "cannot be opened");
  fs::create_directory(dir_ / "data_batch_4.bin");
  expect_error("data_batch_4.bin", "cannot be opened");
  fs::remove(dir_ / "data_batch_1.bin");
  write("train.csv", row(0));
  expect_error("test.csv", "cannot be opened");
}

TEST_F(Cifar10, ReadsPicturesAsText) {
  write_batches();
  const TrainTest binary = read();
  fs::remove(dir_ / "data_batch_1.bin");
  std::string train = "label";
  for (std::size_t p = 0; p < pixels; ++p) train.append(",p").append(std::to_string(p));
  train += "\r\n";
  for (std::size_t r = 0; r < 10; ++r) train += row(r);
  write("train.csv", train);
  write("test.csv", row(20) + row(21));  // without a header, and with the usual line ends
  const TrainTest text = read();
  EXPECT_EQ(text.train->bytes, binary.train->bytes);
  EXPECT_EQ(text.train->labels, binary.train->labels);
  EXPECT_EQ(text.test->bytes, binary.test->bytes);
  EXPECT_EQ(text.test->rows, 2U);
  EXPECT_EQ(text.train->image, binary.train->image);
  EXPECT_EQ(text.train->shift, binary.train->shift);
}

TEST_F(Cifar10, RefusesRowsThatAreNoPictures) {
  write("test.csv", row(1));
  const std::string good = row(3);
  const std::string body = good.substr(0, good.size() - 1);
  const auto expect = [&](const std::string& second, const std::string& text) {
    write("train.csv", good + second);
    expect_error("train.csv:2", text);
  };
  expect(body.substr(0, body.rfind(',')) + "\n", "3072 values instead of 3073");
  expect("3\n", "1 values instead of 3073");
  expect(body + ",7\n", "more than 3073 values");
  expect(body + ",\n", "more than 3073 values");
  expect("10" + body.substr(1) + "\n", "`10` in column 1 is not a whole number of 0 to 9");
  expect("-1" + body.substr(1) + "\n", "`-1` in column 1");
  expect("3,256" + body.substr(body.find(',', 2)) + "\n", "`256` in column 2");
  expect("3,0.5" + body.substr(body.find(',', 2)) + "\n", "`0.5` in column 2");
  expect("3," + body.substr(body.find(',', 2)) + "\n", "`` in column 2");
  expect("\n", "`` in column 1");
  expect("label" + body.substr(1) + "\n", "`label` in column 1");  // a header comes first
}

TEST_F(Cifar10, RefusesTextsWithoutPictures) {
  write("test.csv", row(1));
  write("train.csv", "");
  expect_error("train.csv", "has no pictures");
  write("train.csv", "label,p0\n");
  expect_error("train.csv", "has no pictures");
}

/// Skips cuts within the last number, because a cut 217 may be a valid 21.
TEST_F(Cifar10, TruncatedTextsAreRefused) {
  const std::string whole = row(2) + row(7);
  write("test.csv", row(1));
  for (std::size_t length = row(2).size() + 1; length < whole.size() - 4; length += 97) {
    write("train.csv", whole.substr(0, length));
    expect_error("train.csv:2", "");
  }
}

}  // namespace
}  // namespace gv
