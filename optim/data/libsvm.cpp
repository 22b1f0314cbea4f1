#include "optim/data/libsvm.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/field.h"

namespace gv {
namespace {

/// If more than half of all columns are needed, draws them evenly: drawing one by one would take
/// long.
std::vector<std::uint32_t> draw_columns(std::uint32_t features, std::uint32_t nonzeros, Rng& rng) {
  std::vector<std::uint32_t> columns;
  if (nonzeros > features / 2) {
    columns.resize(features);
    std::iota(columns.begin(), columns.end(), 0U);
    if (nonzeros < features) rng.shuffle(columns);
    columns.resize(nonzeros);
    std::ranges::sort(columns);
  }
  while (columns.size() < nonzeros) {
    for (std::size_t missing = nonzeros - columns.size(); missing > 0; --missing) {
      const double u = rng.uniform();
      columns.push_back(static_cast<std::uint32_t>(u * u * features));
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
  }
  return columns;
}

std::shared_ptr<const Dataset> draw(std::uint32_t rows,
                                    const std::vector<float>& plane,
                                    std::uint32_t nonzeros,
                                    double noise,
                                    Rng rng) {
  auto data = std::make_shared<Dataset>();
  data->rows = rows;
  data->features = static_cast<std::uint32_t>(plane.size());
  data->classes = 2;
  const double deviation = 1 / std::sqrt(static_cast<double>(nonzeros));
  for (std::uint32_t r = 0; r < rows; ++r) {
    double side = 0;
    for (const std::uint32_t column : draw_columns(data->features, nonzeros, rng)) {
      const auto value = static_cast<float>(deviation * rng.normal());
      data->sparse.columns.push_back(column);
      data->sparse.values.push_back(value);
      side += static_cast<double>(value) * static_cast<double>(plane[column]);
    }
    data->sparse.ends.push_back(data->sparse.columns.size());
    const bool flipped = rng.uniform() < noise;
    data->labels.push_back((side > 0) != flipped ? 1 : 0);
  }
  return data;
}

constexpr std::uint32_t most_features = 100'000'000;
constexpr std::uint32_t most_rows = 100'000'000;

/// Columns keep the file's numbers until the last line is read.
class Reader {
 public:
  Reader(const std::string& path, std::optional<std::uint32_t> first_column)
      : path_(path), first_column_(first_column), in_(open_regular(path)) {
    if (!in_) throw std::runtime_error(path + ": cannot be opened; name a file in LIBSVM's format");
  }

  LibSvmFile read() {
    std::string line;
    while (std::getline(in_, line)) {
      ++number_;
      text_ = std::string_view(line).substr(0, line.find('#'));
      if (number_ == 1 && text_.starts_with(byte_order_mark))
        text_.remove_prefix(byte_order_mark.size());
      if (const std::string_view label = word(); !label.empty()) read_row(label);
    }
    if (in_.bad() || file_.rows() == 0)
      throw std::runtime_error(path_ + ": no samples; one is `label column:value ...`");
    count_from_zero();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ":" + std::to_string(number_) + ": " + what);
  }

  /// Returns the next word of this line; empty if there is none.
  std::string_view word() {
    constexpr std::string_view blank = " \t\r";
    text_.remove_prefix(std::min(text_.find_first_not_of(blank), text_.size()));
    const std::string_view next = text_.substr(0, text_.find_first_of(blank));
    text_.remove_prefix(next.size());
    return next;
  }

  void read_row(std::string_view label) {
    const std::optional<double> value = number_of<double>(label);
    if (!value || !std::isfinite(*value)) fail("the label is no number: " + shown(label));
    if (file_.rows() == most_rows)
      fail("more than " + std::to_string(most_rows) + " samples: take fewer");
    std::int64_t last = -1;
    for (std::string_view entry = word(); !entry.empty(); entry = word()) last = read(entry, last);
    file_.label_text += plain_number(label);
    file_.label_ends.push_back(file_.label_text.size());
    file_.lines.push_back(number_);
    file_.ends.push_back(file_.columns.size());
  }

  /// Returns the entry's column.
  std::uint32_t read(std::string_view entry, std::int64_t last) {
    const std::size_t colon = entry.find(':');
    const std::optional<std::uint32_t> column = number_of<std::uint32_t>(entry.substr(0, colon));
    std::optional<double> value;
    if (colon != std::string_view::npos) value = number_of<double>(entry.substr(colon + 1));
    if (!column || !value || !(std::abs(*value) <= std::numeric_limits<float>::max()))
      fail("expected `column:value` with two finite numbers, not " + shown(entry));
    if (*column > most_features)
      fail("column " + std::to_string(*column) + "; at most " + std::to_string(most_features) +
           " are read");
    if (*column == 0 && first_column_ == 1U)
      fail(
          "column 0, and the training file counts its columns from 1; count both alike "
          "(scikit-learn: dump_svmlight_file(..., zero_based=False))");
    if (*column <= last)
      fail("column " + std::to_string(*column) + " after " + std::to_string(last) +
           "; they must ascend");
    has_zero_ = has_zero_ || *column == 0;
    file_.features = std::max(file_.features, *column + 1);
    if (static_cast<float>(*value) != 0) {
      file_.columns.push_back(*column);
      file_.values.push_back(*value);
    }
    return *column;
  }

  void count_from_zero() {
    file_.first_column = first_column_.value_or(has_zero_ ? 0 : 1);
    file_.features -= std::min(file_.features, file_.first_column);
    for (std::uint32_t& column : file_.columns) column -= file_.first_column;
  }

  const std::string& path_;
  std::optional<std::uint32_t> first_column_;
  std::ifstream in_;
  std::size_t number_ = 0;  ///< current line
  std::string_view text_;   ///< rest of the line
  bool has_zero_ = false;
  LibSvmFile file_;
};

/// The two labels, ascending.
std::vector<std::string> classes_of(const std::string& path, const LibSvmFile& file) {
  std::set<std::string, std::less<>> labels;
  for (std::size_t r = 0; r < file.rows(); ++r)
    if (const std::string_view label = file.label(r); !labels.contains(label))
      labels.emplace(label);
  if (labels.size() != 2)
    throw std::runtime_error(path + ": " + std::to_string(labels.size()) +
                             " different labels; logistic regression learns two classes: keep the "
                             "samples of two of them, such as -1 and +1");
  std::vector<std::string> classes(labels.begin(), labels.end());
  std::ranges::stable_sort(classes, {},
                           [](const std::string& label) { return *number_of<double>(label); });
  return classes;
}

/// Samples [begin, end).
std::shared_ptr<const Dataset> part(const std::string& path,
                                    const LibSvmFile& file,
                                    const std::shared_ptr<const DataFacts>& facts,
                                    std::uint32_t features,
                                    std::size_t begin,
                                    std::size_t end) {
  auto data = std::make_shared<Dataset>();
  data->rows = static_cast<std::uint32_t>(end - begin);
  data->features = features;
  data->classes = 2;
  data->facts = facts;
  for (std::size_t r = begin; r < end; ++r) {
    const auto label = std::ranges::find(facts->classes, file.label(r));
    if (label == facts->classes.end())
      throw std::runtime_error(path + ": sample " + std::to_string(r + 1) +
                               " has a label that the training file does not have");
    data->labels.push_back(static_cast<std::uint8_t>(label - facts->classes.begin()));
    add_sparse_row(file, r, data->sparse);
  }
  return data;
}

}  // namespace

TrainTest draw_sparse(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t nonzeros,
                      double noise,
                      Rng rng) {
  if (nonzeros == 0 || nonzeros > features)
    throw std::invalid_argument("sparse: " + std::to_string(nonzeros) + " of " +
                                std::to_string(features) +
                                " features are not zero (from 1 to all of them)");
  std::vector<float> plane(features);
  rng.derive("plane").fill_normal(plane);
  return {draw(train, plane, nonzeros, noise, rng.derive("train")),
          draw(test, plane, nonzeros, noise, rng.derive("test"))};
}

LibSvmFile read_libsvm_file(const std::string& path, std::optional<std::uint32_t> first_column) {
  return Reader(path, first_column).read();
}

void add_sparse_row(const LibSvmFile& file, std::size_t row, SparseSamples& to) {
  for (std::uint64_t k = file.begin(row); k < file.ends[row]; ++k) {
    to.columns.push_back(file.columns[k]);
    to.values.push_back(static_cast<float>(file.values[k]));
  }
  to.ends.push_back(to.columns.size());
}

TrainTest read_libsvm(const std::string& train, const std::string& test) {
  const LibSvmFile ours = read_libsvm_file(train);
  DataFacts named{.format = "LIBSVM", .target = "", .classes = classes_of(train, ours)};
  named.first_column = ours.first_column;
  const auto facts = std::make_shared<const DataFacts>(std::move(named));
  const std::size_t n = ours.rows();
  if (!test.empty()) {
    const LibSvmFile theirs = read_libsvm_file(test, ours.first_column);
    const std::uint32_t features = std::max(ours.features, theirs.features);
    return {part(train, ours, facts, features, 0, n),
            part(test, theirs, facts, features, 0, theirs.rows())};
  }
  const std::size_t held_out = std::max<std::size_t>(1, n / 10);
  return {part(train, ours, facts, ours.features, 0, n - held_out),
          part(train, ours, facts, ours.features, n - held_out, n)};
}

}  // namespace gv
