#include "optim/data/images/picture_file.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <png.h>

#include "optim/data/field.h"

namespace gv {
namespace {

constexpr std::uint64_t most_bytes = 64U << 20;
constexpr std::uint32_t longest_side = 4096;

[[noreturn]] void refuse_picture(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

std::vector<std::uint8_t> bytes_of(const std::string& path) {
  std::ifstream in = open_regular(path);
  if (!in) refuse_picture(path, "cannot be opened, or is no regular file");
  const std::uint64_t size = std::filesystem::file_size(path);
  if (size > most_bytes) refuse_picture(path, "a picture of more than 64 MiB");
  std::vector<std::uint8_t> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!in) refuse_picture(path, "cannot be read");
  return bytes;
}

ImageShape checked(const std::string& path,
                   std::uint32_t channels,
                   std::uint32_t h,
                   std::uint32_t w) {
  if (h == 0 || w == 0 || h > longest_side || w > longest_side)
    refuse_picture(path, std::to_string(w) + " x " + std::to_string(h) + " pixels; sides of 1 to " +
                             std::to_string(longest_side) + " are read");
  return {channels, h, w};
}

/// "P5" and three numbers, with comments from # to the line's end between them; then one blank.
class PgmHeader {
 public:
  PgmHeader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  std::uint32_t number() {
    skip();
    const std::size_t begin = at_;
    std::uint32_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ < begin + 9; ++at_)
      value = 10 * value + static_cast<std::uint32_t>(text_[at_] - '0');
    if (at_ == begin) refuse_picture(path_, "a damaged PGM header; save the picture again");
    return value;
  }
  std::size_t body() const { return at_ + 1; }

 private:
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (std::isspace(static_cast<unsigned char>(text_[at_])) == 0) return;
    }
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 2;
};

Picture read_pgm(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  PgmHeader header(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::uint32_t width = header.number();
  const std::uint32_t height = header.number();
  const std::uint32_t white = header.number();
  Picture picture{.shape = checked(path, 1, height, width), .pixels = {}};
  if (white == 0 || white > 255) refuse_picture(path, "more than 8 bits a pixel; save it with 8");
  const std::size_t size = std::size_t{width} * height;
  if (bytes.size() < header.body() || bytes.size() - header.body() != size)
    refuse_picture(path, "its header promises " + std::to_string(size) +
                             " pixels, and the file has " + std::to_string(bytes.size()) +
                             " bytes; save the picture again");
  for (std::size_t k = 0; k < size; ++k) {
    const std::uint32_t value = bytes[header.body() + k];
    if (value > white) refuse_picture(path, "a pixel brighter than its header allows");
    picture.pixels.push_back(static_cast<std::uint8_t>((value * 255 + white / 2) / white));
  }
  return picture;
}

/// Uses libpng's simplified interface, which returns errors as text and prints none.
Picture read_png(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto refuse = [&](const std::string& what) {
    png_image_free(&image);
    refuse_picture(path, what);
  };
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    refuse(std::string("a damaged PNG: ").append(image.message));
  if ((image.format & PNG_FORMAT_FLAG_ALPHA) != 0)
    refuse("a PNG with transparency; save it without");
  if ((image.format & PNG_FORMAT_FLAG_LINEAR) != 0) refuse("16 bits a pixel; save it with 8");
  const bool colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  if (image.height == 0 || image.width == 0 || image.height > longest_side ||
      image.width > longest_side)
    png_image_free(&image);
  Picture picture{.shape = checked(path, colour ? 3 : 1, image.height, image.width), .pixels = {}};
  image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> rows(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, rows.data(), 0, nullptr) == 0)
    refuse(std::string("a damaged PNG: ").append(image.message));
  if (!colour) {
    picture.pixels = std::move(rows);
    return picture;
  }
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t k = channel; k < rows.size(); k += 3) picture.pixels.push_back(rows[k]);
  return picture;
}

}  // namespace

Picture read_picture(const std::string& path) {
  const std::vector<std::uint8_t> bytes = bytes_of(path);
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (start.starts_with("P5")) return read_pgm(path, bytes);
  if (start.starts_with("\x89PNG")) return read_png(path, bytes);
  refuse_picture(path,
                 "neither PNG nor binary PGM (P5); convert it, such as by `convert FILE FILE.png`");
}

}  // namespace gv
