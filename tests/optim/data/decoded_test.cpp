#include "optim/data/sets/decoded.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<Dataset> pictures(std::uint32_t rows, std::uint8_t first) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = 6;
  data->classes = 3;
  data->image = {1, 2, 3};
  for (std::uint32_t k = 0; k < rows * 6; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(first + k));
  for (std::uint32_t r = 0; r < rows; ++r) data->labels.push_back(static_cast<std::uint8_t>(r % 3));
  data->shift = {0.25F};
  data->scale = {4};
  return data;
}

class Decoded : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(source_) << "pictures as they are published"; }

  TrainTest read(const std::string& form = "test 1") {
    return decoded(cache_, form, {source_}, [this] {
      ++decodings_;
      return TrainTest{pictures(5, 0), pictures(2, 100)};
    });
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache_)) files.push_back(entry.path());
    return files;
  }
  void expect_all(const TrainTest& data) const {
    EXPECT_EQ(data.train->bytes, pictures(5, 0)->bytes);
    EXPECT_EQ(data.test->bytes, pictures(2, 100)->bytes);
    EXPECT_EQ(data.test->labels, pictures(2, 100)->labels);
    EXPECT_EQ(data.train->image, (ImageShape{1, 2, 3}));
    EXPECT_EQ(data.train->shift, std::vector<float>{0.25F});
    EXPECT_EQ(data.train->scale, std::vector<float>{4});
    EXPECT_EQ(data.train->classes, 3U);
  }

  ScratchFolder scratch_;
  std::string source_ = fs::path(scratch_.path()) / "source";
  std::string cache_ = fs::path(scratch_.path()) / "cache" / "data";
  int decodings_ = 0;
};

TEST_F(Decoded, IsDecodedOnceAndThenMapped) {
  expect_all(read());
  expect_all(read());
  EXPECT_EQ(decodings_, 1);
  EXPECT_EQ(kept().size(), 1U);
  EXPECT_EQ(fs::status(kept()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Decoded, OtherContentAndAnotherFormHaveFilesOfTheirOwn) {
  read();
  std::ofstream(source_) << "other pictures";
  read();
  read("test 2");
  EXPECT_EQ(decodings_, 3);
  EXPECT_EQ(kept().size(), 3U);
}

/// Changes each byte of the file, and its length: the data must be right all the same.
TEST_F(Decoded, ADamagedFileIsDecodedAgain) {
  read();
  const fs::path file = kept().at(0);
  const std::string whole = text_of(file);
  int expected = 1;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x20);
    std::ofstream(file, std::ios::binary) << damaged;
    expect_all(read());
    std::ofstream(file, std::ios::binary) << whole.substr(0, k);
    expect_all(read());
    expected += 2;
  }
  EXPECT_EQ(decodings_, expected);
}

/// A file that others could have written, or that is a link, is not used.
TEST_F(Decoded, AFileThatIsNotOursAloneIsNotUsed) {
  read();
  const fs::path file = kept().at(0);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  expect_all(read());
  EXPECT_EQ(decodings_, 2);
  fs::rename(file, fs::path(scratch_.path()) / "elsewhere");
  fs::create_symlink(fs::path(scratch_.path()) / "elsewhere", file);
  expect_all(read());
  EXPECT_EQ(decodings_, 3);
}

TEST_F(Decoded, WithoutAFolderItIsDecodedEachTime) {
  std::ofstream(fs::path(scratch_.path()) / "cache") << "a file in the way";
  expect_all(read());
  expect_all(read());
  EXPECT_EQ(decodings_, 2);
  decoded("", "test 1", {source_}, [] { return TrainTest{pictures(1, 0), pictures(1, 0)}; });
  cache_ = fs::path(scratch_.path()) / "other";
  source_ += ".missing";
  expect_all(read());
  EXPECT_FALSE(fs::exists(cache_)) << "the reader is to say what is missing";
}

TEST_F(Decoded, ErrorsOfTheReaderComeThrough) {
  const auto fails = []() -> TrainTest { throw std::runtime_error("damaged"); };
  EXPECT_THROW(decoded(cache_, "test 1", {source_}, fails), std::runtime_error);
  EXPECT_EQ(decodings_, 0);
  expect_all(read());
}

}  // namespace
}  // namespace gv
