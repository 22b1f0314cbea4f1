#include "optim/data/libsvm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/field.h"

namespace gv {
namespace {

constexpr std::uint32_t most_features = 100'000'000;
constexpr std::uint32_t most_rows = 100'000'000;

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_) throw std::runtime_error(path + ": cannot be opened; name a file in LIBSVM's format");
  }

  LibSvmFile read(std::uint64_t most) {
    std::string line;
    while (file_.labels.size() < most && std::getline(in_, line)) {
      ++number_;
      text_ = std::string_view(line).substr(0, line.find('#'));
      if (const std::string_view label = word(); !label.empty()) read_row(label);
    }
    if (in_.bad() || file_.labels.empty())
      throw std::runtime_error(path_ + ": no samples; one is `label column:value ...`");
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(number_) + ": " + what);
  }

  /// The next one of this line; empty: there is none.
  std::string_view word() {
    constexpr std::string_view blank = " \t\r";
    text_.remove_prefix(std::min(text_.find_first_not_of(blank), text_.size()));
    const std::string_view next = text_.substr(0, text_.find_first_of(blank));
    text_.remove_prefix(next.size());
    return next;
  }

  void read_row(std::string_view label) {
    const std::optional<float> value = number_of<float>(label);
    if (!value || !std::isfinite(*value)) fail("the label is no number: " + shown(label));
    if (file_.labels.size() == most_rows)
      fail("more than " + std::to_string(most_rows) + " samples: take fewer");
    std::uint32_t last = 0;
    for (std::string_view entry = word(); !entry.empty(); entry = word()) last = read(entry, last);
    file_.labels.push_back(*value);
    file_.lines.push_back(number_);
    file_.rows.ends.push_back(file_.rows.columns.size());
  }

  /// Its column, from 1 on.
  std::uint32_t read(std::string_view entry, std::uint32_t last) {
    const std::size_t colon = entry.find(':');
    const std::optional<std::uint32_t> column = number_of<std::uint32_t>(entry.substr(0, colon));
    std::optional<float> value;
    if (colon != std::string_view::npos) value = number_of<float>(entry.substr(colon + 1));
    if (!column || !value || !std::isfinite(*value))
      fail("expected `column:value` with two finite numbers, not " + shown(entry));
    if (*column == 0 || *column > most_features)
      fail("column " + std::to_string(*column) + "; they go from 1 to " +
           std::to_string(most_features));
    if (*column <= last)
      fail("column " + std::to_string(*column) + " after " + std::to_string(last) +
           "; they must ascend");
    file_.features = std::max(file_.features, *column);
    if (*value != 0) {
      file_.rows.columns.push_back(*column - 1);
      file_.rows.values.push_back(*value);
    }
    return *column;
  }

  const std::string& path_;
  std::ifstream in_;
  std::size_t number_ = 0;  ///< of the line
  std::string_view text_;   ///< what is left of it
  LibSvmFile file_;
};

/// The two labels, ascending.
std::vector<float> classes_of(const std::string& path, const LibSvmFile& file) {
  std::vector<float> classes = file.labels;
  std::ranges::sort(classes);
  classes.erase(std::ranges::unique(classes).begin(), classes.end());
  if (classes.size() != 2)
    throw std::runtime_error(path + ": " + std::to_string(classes.size()) +
                             " different labels; logistic regression learns two classes: keep the "
                             "samples of two of them, such as -1 and +1");
  return classes;
}

/// Says what the labels are called in the file.
std::shared_ptr<const DataFacts> facts_of(const std::vector<float>& classes) {
  DataFacts facts{.format = "LIBSVM", .target = ""};
  for (const float label : classes) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), label).ptr;
    facts.classes.emplace_back(text.data(), end);
  }
  return std::make_shared<const DataFacts>(std::move(facts));
}

/// Samples [begin, end).
std::shared_ptr<const Dataset> part(const std::string& path,
                                    const LibSvmFile& file,
                                    const std::vector<float>& classes,
                                    std::uint32_t features,
                                    std::size_t begin,
                                    std::size_t end) {
  auto data = std::make_shared<Dataset>();
  data->rows = static_cast<std::uint32_t>(end - begin);
  data->features = features;
  data->classes = 2;
  data->facts = facts_of(classes);
  for (std::size_t r = begin; r < end; ++r) {
    const auto label = std::ranges::find(classes, file.labels[r]);
    if (label == classes.end())
      throw std::runtime_error(path + ": sample " + std::to_string(r + 1) +
                               " has a label that the training file does not have");
    data->labels.push_back(static_cast<std::uint8_t>(label - classes.begin()));
    const SparseSample row = file.rows.row(static_cast<std::uint32_t>(r));
    data->sparse.columns.insert(data->sparse.columns.end(), row.columns.begin(), row.columns.end());
    data->sparse.values.insert(data->sparse.values.end(), row.values.begin(), row.values.end());
    data->sparse.ends.push_back(data->sparse.columns.size());
  }
  return data;
}

}  // namespace

LibSvmFile read_libsvm_file(const std::string& path, std::uint64_t most) {
  return Reader(path).read(most);
}

TrainTest read_libsvm(const std::string& train, const std::string& test) {
  const LibSvmFile ours = read_libsvm_file(train);
  const std::vector<float> classes = classes_of(train, ours);
  const std::size_t n = ours.labels.size();
  if (!test.empty()) {
    const LibSvmFile theirs = read_libsvm_file(test);
    const std::uint32_t features = std::max(ours.features, theirs.features);
    return {part(train, ours, classes, features, 0, n),
            part(test, theirs, classes, features, 0, theirs.labels.size())};
  }
  const std::size_t held_out = std::max<std::size_t>(1, n / 10);
  return {part(train, ours, classes, ours.features, 0, n - held_out),
          part(train, ours, classes, ours.features, n - held_out, n)};
}

}  // namespace gv
