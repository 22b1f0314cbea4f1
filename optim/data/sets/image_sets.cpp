#include "optim/data/sets/image_sets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "optim/data/field.h"

// Binary (https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version"):
//   file   := record*
//   record := label:u8 red:u8[32][32] green:u8[32][32] blue:u8[32][32]        3073 bytes
// Text:
//   file := [ header ] row*
//   row  := label "," p0 "," ... "," p3071       whole numbers, the pixels in the order above

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t side = 32;
constexpr std::size_t pixels = 3 * side * side;
constexpr std::size_t record = 1 + pixels;
constexpr std::uint8_t classes = 10;
/// The moments of the 50 000 training pictures, pixels in [0, 1].
constexpr std::array<float, 3> channel_mean{0.49140F, 0.48216F, 0.44653F};
constexpr std::array<float, 3> channel_deviation{0.24703F, 0.24349F, 0.26159F};

constexpr const char* binary_remedy =
    "take the files of the \"binary version\" (cifar-10-binary.tar.gz) as they are";
constexpr const char* text_remedy =
    "a row is the label and then 3072 pixels of 0 to 255: red, green and blue, each row by row";

[[noreturn]] void fail(const std::string& where, const std::string& what, const char* remedy) {
  throw std::runtime_error(where + ": " + what + "; " + remedy);
}

std::shared_ptr<Dataset> empty_set() {
  auto data = std::make_shared<Dataset>();
  data->features = pixels;
  data->classes = classes;
  data->image = {3, side, side};
  data->shift.assign(channel_mean.begin(), channel_mean.end());
  data->scale.clear();
  for (const float deviation : channel_deviation) data->scale.push_back(1 / deviation);
  return data;
}

void append_batch(const std::string& path, std::uint32_t records, Dataset& data) {
  std::ifstream in = open_regular(path);
  if (!in) fail(path, "cannot be opened", binary_remedy);
  const std::uint64_t size = fs::file_size(path);
  if (size != records * record) {
    const std::string rest =
        size % record == 0 ? "" : " and " + std::to_string(size % record) + " bytes";
    fail(path,
         "has " + std::to_string(size) + " bytes, " + std::to_string(size / record) + " records" +
             rest + " instead of " + std::to_string(records) + " records of " +
             std::to_string(record) + " bytes",
         binary_remedy);
  }
  for (std::uint32_t r = 0; r < records; ++r) {
    const int label = in.get();
    if (in && label >= classes) {
      fail(path,
           "the label at byte " + std::to_string(r * record) + " (record " + std::to_string(r) +
               ") is " + std::to_string(label) + ", not 0 to 9",
           binary_remedy);
    }
    data.labels.push_back(static_cast<std::uint8_t>(label));
    std::vector<std::uint8_t>& bytes = data.bytes.own();
    bytes.resize(bytes.size() + pixels);
    in.read(reinterpret_cast<char*>(bytes.data() + bytes.size() - pixels), pixels);
    if (!in)
      fail(path, "cannot be read at byte " + std::to_string(r * record), "is the disk damaged?");
  }
  data.rows += records;
}

TrainTest read_binary(const std::string& dir, std::uint32_t per_file) {
  const std::shared_ptr<Dataset> train = empty_set();
  const std::shared_ptr<Dataset> test = empty_set();
  train->bytes.own().reserve(5 * pixels * per_file);
  for (int batch = 1; batch <= 5; ++batch)
    append_batch(dir + "/data_batch_" + std::to_string(batch) + ".bin", per_file, *train);
  append_batch(dir + "/test_batch.bin", per_file, *test);
  return {train, test};
}

/// The numbers of one line; an error names the column of a word that is not a number.
class Row {
 public:
  Row(std::string where, std::string_view line) : where_(std::move(where)), left_(line) {}

  std::uint8_t next(unsigned most) {
    if (column_ > 0 && left_.empty())
      fail(where_, std::to_string(column_) + " values instead of 3073", text_remedy);
    const std::size_t comma = std::min(left_.find(','), left_.size());
    const std::string_view word = left_.substr(0, comma);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value > most)
      refuse(word, most);
    ++column_;
    last_ = comma == left_.size();
    left_.remove_prefix(last_ ? comma : comma + 1);
    return static_cast<std::uint8_t>(value);
  }
  void end() const {
    if (!last_) fail(where_, "more than 3073 values", text_remedy);
  }

 private:
  [[noreturn]] void refuse(std::string_view word, unsigned most) const {
    // The word is from a file: escape it, so that it cannot move the reader's cursor.
    fail(where_,
         shown(word) + " in column " + std::to_string(column_ + 1) +
             " is not a whole number of 0 to " + std::to_string(most),
         text_remedy);
  }

  std::string where_;
  std::string_view left_;
  std::size_t column_ = 0;
  bool last_ = false;
};

/// Returns whether a first line is a header: it begins with no digit.
bool is_header(const std::string& line) {
  return !line.empty() && (line[0] < '0' || line[0] > '9');
}

std::shared_ptr<Dataset> read_text_set(const std::string& path) {
  std::ifstream in = open_regular(path);
  if (!in) fail(path, "cannot be opened", "train.csv and test.csv belong together");
  std::shared_ptr<Dataset> data = empty_set();
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (number == 1 && is_header(line)) continue;
    Row row(path + ":" + std::to_string(number), line);
    data->labels.push_back(row.next(classes - 1));
    for (std::size_t p = 0; p < pixels; ++p) data->bytes.own().push_back(row.next(255));
    row.end();
    ++data->rows;
  }
  if (data->rows == 0) fail(path, "has no pictures", text_remedy);
  return data;
}

}  // namespace

std::vector<std::string> cifar10_files(const std::string& dir) {
  if (!fs::exists(dir + "/data_batch_1.bin")) return {dir + "/train.csv", dir + "/test.csv"};
  std::vector<std::string> files;
  for (int batch = 1; batch <= 5; ++batch)
    files.push_back(dir + "/data_batch_" + std::to_string(batch) + ".bin");
  files.push_back(dir + "/test_batch.bin");
  return files;
}

TrainTest read_cifar10(const std::string& dir, std::uint32_t per_file) {
  if (fs::exists(dir + "/data_batch_1.bin")) return read_binary(dir, per_file);
  if (fs::exists(dir + "/train.csv"))
    return {read_text_set(dir + "/train.csv"), read_text_set(dir + "/test.csv")};
  fail(dir, "has neither data_batch_1.bin nor train.csv", binary_remedy);
}

// IDX file, all big-endian (Y. LeCun, C. Cortes & C. Burges, "The MNIST database", file formats):
//   labels: 0x00000801 count:u32 label:u8[count]
//   images: 0x00000803 count:u32 height:u32 width:u32 pixel:u8[count][height][width]
// Plain or gzipped; zlib reads both, and like gzip ignores bytes after a complete gzip stream.

namespace {

constexpr std::uint32_t label_magic = 0x0801;
constexpr std::uint32_t image_magic = 0x0803;
constexpr std::uint64_t largest = std::uint64_t{1} << 31;
constexpr std::uint64_t longest_side = 4096;

constexpr const char* published = "take the four files of the data set as they are published";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what + "; " + published);
}

/// Reads a header number by number, then exactly the number of bytes in it.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) refuse(path_, "cannot be opened");
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
      refuse(path_, "ends in its header, after " + std::to_string(header_) + " bytes");
    return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 |
           static_cast<std::uint32_t>(b[2]) << 8 | b[3];
  }

  /// Throws if the length of a plain file differs from the header's.
  void expect(std::uint64_t promised) const {
    if (gzdirect(file_) == 0) return;
    const std::uint64_t size = std::filesystem::file_size(path_);
    if (size != header_ + promised) {
      refuse(path_, "has " + std::to_string(size) + " bytes, its header promises " +
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
        refuse(path_, "is truncated: " + std::to_string(before + n) + " bytes of " +
                          std::to_string(promised) + " after its header");
      }
    }
    std::uint8_t more = 0;  // reading on also makes zlib check the sum at the end
    if (read(&more, 1) != 0)
      refuse(path_,
             "continues after the " + std::to_string(promised) + " bytes its header promises");
    return bytes;
  }

 private:
  /// Reads n bytes, fewer only at the end of the file.
  std::size_t read(std::uint8_t* to, std::size_t n) {
    const int got = gzread(file_, to, static_cast<unsigned>(n));
    int error = Z_OK;
    const char* text = gzerror(file_, &error);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
      refuse(path_, std::string("is damaged: ") + text);
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
  refuse(dir, "has neither " + name + " nor " + name + ".gz");
}

void check_magic(File& file, std::uint32_t expected) {
  const std::uint32_t magic = file.big_endian();
  if (magic != expected) {
    refuse(file.path(), "begins with " + std::to_string(magic) + " instead of " +
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
    refuse(file.path(), "has impossible dimensions: " + std::to_string(data.rows) + " images of " +
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
    refuse(labels.path(), "has " + std::to_string(count) + " labels for " +
                              std::to_string(data->rows) + " images");
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
    refuse(dir, "training images are " + sides(*train) + ", test images " + sides(*test));
  train->classes = test->classes = std::max(train->classes, test->classes);
  standardize(*train, *test);
  return {train, test};
}

}  // namespace gv
