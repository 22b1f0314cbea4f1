#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include <zlib.h>

#include "optim/data/dataset.h"

// IDX file, all big-endian (Y. LeCun, C. Cortes & C. Burges, "The MNIST database", file formats):
//   labels: 0x00000801 count:u32 label:u8[count]
//   images: 0x00000803 count:u32 height:u32 width:u32 pixel:u8[count][height][width]
// Plain or gzipped; zlib reads both, and like gzip ignores bytes after a complete gzip stream.

namespace gv {
namespace {

constexpr std::uint32_t label_magic = 0x0801;
constexpr std::uint32_t image_magic = 0x0803;
constexpr std::uint64_t largest = std::uint64_t{1} << 31;
constexpr std::uint64_t longest_side = 4096;

constexpr const char* remedy = "take the four files of the data set as they are published";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what + "; " + remedy);
}

/// Reads a header number by number, then exactly the number of bytes in it.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) fail(path_, "cannot be opened");
    gzbuffer(file_, 1U << 18);
  }
  ~File() { gzclose(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }

  std::uint32_t big_endian() {
    std::array<unsigned char, 4> b{};
    const std::size_t n = read(b.data(), b.size());
    header_ += n;
    if (n != b.size())
      fail(path_, "ends in its header, after " + std::to_string(header_) + " bytes");
    return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 |
           static_cast<std::uint32_t>(b[2]) << 8 | b[3];
  }

  /// Throws if the length of a plain file differs from the header's.
  void expect(std::uint64_t promised) const {
    if (gzdirect(file_) == 0) return;
    const std::uint64_t size = std::filesystem::file_size(path_);
    if (size != header_ + promised) {
      fail(path_, "has " + std::to_string(size) + " bytes, its header promises " +
                      std::to_string(header_ + promised));
    }
  }

  /// Grows as bytes arrive, so that a false gzip header allocates nothing.
  std::vector<std::uint8_t> rest(std::uint64_t promised) {
    constexpr std::uint64_t piece = 1U << 20;
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < promised) {
      const std::size_t before = bytes.size();
      if (bytes.capacity() == before)
        bytes.reserve(std::min(promised, std::max(2 * before, piece)));
      bytes.resize(std::min<std::uint64_t>(bytes.capacity(), before + piece));
      const std::size_t n = read(bytes.data() + before, bytes.size() - before);
      if (n < bytes.size() - before) {
        fail(path_, "is truncated: " + std::to_string(before + n) + " bytes of " +
                        std::to_string(promised) + " after its header");
      }
    }
    std::uint8_t more = 0;  // reading on also makes zlib check the sum at the end
    if (read(&more, 1) != 0)
      fail(path_, "continues after the " + std::to_string(promised) + " bytes its header promises");
    return bytes;
  }

 private:
  /// Reads n bytes, fewer only at the end of the file.
  std::size_t read(std::uint8_t* to, std::size_t n) {
    const int got = gzread(file_, to, static_cast<unsigned>(n));
    int error = Z_OK;
    const char* text = gzerror(file_, &error);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
      fail(path_, std::string("is damaged: ") + text);
    return static_cast<std::size_t>(got);
  }

  std::string path_;
  gzFile file_;
  std::uint64_t header_ = 0;
};

std::string find(const std::string& dir, const std::string& name) {
  for (const std::string& candidate : {dir + "/" + name, dir + "/" + name + ".gz"}) {
    if (std::filesystem::exists(candidate)) return candidate;
  }
  fail(dir, "has neither " + name + " nor " + name + ".gz");
}

void check_magic(File& file, std::uint32_t expected) {
  const std::uint32_t magic = file.big_endian();
  if (magic != expected) {
    fail(file.path(), "begins with " + std::to_string(magic) + " instead of " +
                          std::to_string(expected) + ", the magic number of IDX " +
                          (expected == image_magic ? "images" : "labels"));
  }
}

/// Reads rows and features into `data`; returns the number of bytes that must follow.
std::uint64_t read_image_header(File& file, Dataset& data) {
  check_magic(file, image_magic);
  data.rows = file.big_endian();
  const std::uint64_t height = file.big_endian();
  const std::uint64_t width = file.big_endian();
  if (data.rows == 0 || height == 0 || width == 0 || height > longest_side ||
      width > longest_side || data.rows * height * width > largest) {
    fail(file.path(), "has impossible dimensions: " + std::to_string(data.rows) + " images of " +
                          std::to_string(height) + " x " + std::to_string(width));
  }
  data.features = static_cast<std::uint32_t>(height * width);
  data.image = {1, static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)};
  return data.rows * height * width;
}

/// Both headers before either body.
std::shared_ptr<Dataset> read_pair(const std::string& dir, const std::string& stem) {
  auto data = std::make_shared<Dataset>();
  File images(find(dir, stem + "-images-idx3-ubyte"));
  File labels(find(dir, stem + "-labels-idx1-ubyte"));
  const std::uint64_t pixels = read_image_header(images, *data);
  check_magic(labels, label_magic);
  if (const std::uint32_t count = labels.big_endian(); count != data->rows) {
    fail(labels.path(),
         "has " + std::to_string(count) + " labels for " + std::to_string(data->rows) + " images");
  }
  images.expect(pixels);
  labels.expect(data->rows);
  data->labels = labels.rest(data->rows);
  data->bytes = images.rest(pixels);
  data->classes = *std::ranges::max_element(data->labels) + 1U;
  return data;
}

std::string sides(const Dataset& data) {
  return std::to_string(data.image.height) + " x " + std::to_string(data.image.width);
}

}  // namespace

std::vector<std::string> idx_files(const std::string& dir) {
  std::vector<std::string> files;
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    files.push_back(find(dir, name));
  return files;
}

TrainTest read_idx(const std::string& dir) {
  const std::shared_ptr<Dataset> train = read_pair(dir, "train");
  const std::shared_ptr<Dataset> test = read_pair(dir, "t10k");
  if (train->image != test->image)
    fail(dir, "training images are " + sides(*train) + ", test images " + sides(*test));
  train->classes = test->classes = std::max(train->classes, test->classes);
  standardize(*train, *test);
  return {train, test};
}

}  // namespace gv
