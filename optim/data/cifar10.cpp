#include "optim/data/cifar10.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

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

}  // namespace gv
