#include "optim/data/images/image_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <png.h>

#include "optim/data/images/picture_file.h"
#include "tests/error_in.h"
#include "tests/optim/data/table/mutated.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class Images : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string pgm(int width, int height, int first) {
    std::string file =
        "P5\n# a comment\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
    for (int k = 0; k < width * height; ++k) file += static_cast<char>((first + k) % 256);
    return file;
  }
  /// Returns the file as libpng writes it, with interleaved pixels.
  static std::string png(std::uint32_t width,
                         std::uint32_t height,
                         std::uint32_t format,
                         const std::vector<std::uint8_t>& pixels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    png_alloc_size_t size = 0;
    png_image_write_get_memory_size(image, size, 0, pixels.data(), 0, nullptr);
    std::string file(size, ' ');
    png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
    file.resize(size);
    return file;
  }
  std::string error(const std::string& dir, const std::string& test = "") const {
    return error_in(folder_, [&] {
      read_images(
          with_test_set(find_images(path(dir), test.empty() ? "" : path(test)), 0.5, Rng(1)));
    });
  }

  ScratchFolder folder_;
};

TEST_F(Images, AFolderForEachClassInSortedOrder) {
  for (const char* name : {"d/10/a.pgm", "d/9/a.pgm", "d/9/.hidden"}) write(name, pgm(3, 2, 7));
  write("t/9/x.png", png(3, 2, PNG_FORMAT_GRAY, {1, 2, 3, 4, 5, 6}));
  const ImageFolder found = find_images(path("d"), path("t"));
  EXPECT_EQ(found.classes, (std::vector<std::string>{"9", "10"}));
  const TrainTest read = read_images(found);
  EXPECT_EQ(read.train->rows, 2U);
  EXPECT_EQ(read.train->image, (ImageShape{1, 2, 3}));
  EXPECT_EQ(read.train->labels, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(read.train->classes, 2U);
  EXPECT_EQ(read.train->bytes[0], 7);
  EXPECT_EQ(read.test->bytes[5], 6);
  EXPECT_EQ(read.test->labels, (std::vector<std::uint8_t>{0}));
}

/// The folder `__MACOSX` of an archive from a Mac was once a class without a picture.
TEST_F(Images, AFolderWithoutPicturesIsNoClass) {
  for (const char* name : {"d/a/1.pgm", "d/b/1.pgm", "d/__MACOSX/a/._1.pgm", "d/b/empty/.keep"})
    write(name, pgm(3, 2, 7));
  fs::create_directories(path("d/new"));
  const ImageFolder found = find_images(path("d"), path("d"));
  EXPECT_EQ(found.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.empty, (std::vector<std::string>{"__MACOSX", "new"}));
  EXPECT_EQ(found.train.size(), 2U);
}

/// The message was once: is the disk damaged?
TEST_F(Images, AFolderWithinAClassIsRefusedByItsName) {
  for (const char* name : {"d/a/1.pgm", "d/b/1.pgm", "d/b/more/2.pgm"}) write(name, pgm(3, 2, 7));
  EXPECT_NE(error("d").find("d/b/more: is a folder within a class"), std::string::npos)
      << error("d");
}

TEST_F(Images, EachChannelIsScaledByItsOwnPixels) {
  write("d/a/1.png", png(2, 1, PNG_FORMAT_RGB, {10, 100, 50, 30, 200, 50}));
  write("d/b/1.png", png(2, 1, PNG_FORMAT_RGB, {10, 100, 50, 30, 200, 50}));
  write("t/a/1.png", png(2, 1, PNG_FORMAT_RGB, {30, 200, 60, 30, 200, 60}));
  const TrainTest read = read_images(find_images(path("d"), path("t")));
  EXPECT_EQ(read.train->image, (ImageShape{3, 1, 2}));
  const std::vector<std::uint8_t> planes{10, 30, 100, 200, 50, 50};
  EXPECT_TRUE(std::equal(planes.begin(), planes.end(), read.train->bytes.begin()));
  std::vector<float> seen(6);
  const std::vector<std::uint32_t> row{0};
  read.train->gather(row, seen);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(seen[k], k % 2 == 0 ? -1 : 1, 1e-4) << k;
  EXPECT_NEAR(seen[4], 0, 1e-4) << "a constant channel";
}

TEST_F(Images, APartIsHeldOutOncePerSeed) {
  for (int k = 0; k < 20; ++k)
    write("d/" + std::string(k % 2 == 0 ? "a/" : "b/") + std::to_string(k) + ".pgm", pgm(2, 2, k));
  const ImageFolder found = find_images(path("d"), "");
  const ImageFolder divided = with_test_set(found, 0.25, Rng(1));
  EXPECT_EQ(divided.test.size(), 5U);
  EXPECT_EQ(divided.train.size(), 15U);
  std::vector<std::string> all = divided.paths(), before = found.paths();
  std::ranges::sort(all);
  std::ranges::sort(before);
  EXPECT_EQ(all, before);
  EXPECT_EQ(with_test_set(found, 0.25, Rng(1)).paths(), divided.paths());
  EXPECT_NE(with_test_set(found, 0.25, Rng(2)).paths(), divided.paths());
}

TEST_F(Images, WhatDoesNotFitIsNamed) {
  write("d/a/1.pgm", pgm(2, 2, 0));
  EXPECT_NE(error("d").find("d: 1 folders; 2 to 256 classes"), std::string::npos);
  write("d/b/2.pgm", pgm(2, 3, 0));
  EXPECT_NE(error("d").find("; all must be alike"), std::string::npos) << error("d");
  write("d/b/2.pgm", png(2, 2, PNG_FORMAT_RGB, std::vector<std::uint8_t>(12)));
  EXPECT_NE(error("d").find("coloured"), std::string::npos);
  write("d/b/2.pgm", png(2, 2, PNG_FORMAT_RGBA, std::vector<std::uint8_t>(16)));
  EXPECT_NE(error("d").find("d/b/2.pgm: a PNG with transparency"), std::string::npos);
  write("d/b/2.pgm", "\xFF\xD8\xFF");
  EXPECT_NE(error("d").find("d/b/2.pgm: neither PNG nor binary PGM"), std::string::npos);
  write("d/b/2.pgm", "P5 9999999 9999999 255\n");
  EXPECT_NE(error("d").find("sides of 1 to 4096"), std::string::npos);
  write("d/b/2.pgm", pgm(2, 2, 0) + "x");
  EXPECT_NE(error("d").find("promises 4 pixels"), std::string::npos);
  write("d/readme.txt", "x");
  EXPECT_NE(error("d").find("d: `readme.txt` is no folder"), std::string::npos);
  EXPECT_NE(error("nowhere").find("nowhere: cannot be read"), std::string::npos);
  fs::remove(path("d/readme.txt"));
  write("t/c/1.pgm", pgm(2, 2, 0));
  EXPECT_NE(error("d", "t").find("t: the class `c` has no training pictures"), std::string::npos);
}

TEST_F(Images, DamagedPicturesAreReadOrRefused) {
  std::vector<std::uint8_t> pixels;
  for (int k = 0; k < 300; ++k) pixels.push_back(static_cast<std::uint8_t>(k * 7));
  for (const std::string& content :
       {pgm(12, 9, 3), png(10, 10, PNG_FORMAT_RGB, pixels), png(10, 30, PNG_FORMAT_GRAY, pixels)}) {
    Rng rng(5);
    int refused = 0;
    for (int k = 0; k < 2000; ++k) {
      const std::string file = write("one", mutated(content, rng));
      try {
        const Picture picture = read_picture(file);
        EXPECT_EQ(picture.pixels.size(),
                  std::size_t{picture.shape.channels} * picture.shape.height * picture.shape.width);
      } catch (const std::runtime_error& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with(file)) << e.what();
        ++refused;
      }
    }
    EXPECT_GT(refused, 200);
  }
}

}  // namespace
}  // namespace gv
