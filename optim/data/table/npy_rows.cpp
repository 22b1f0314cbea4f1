#include <cmath>
#include <optional>
#include <stdexcept>

#include "optim/data/table/npy_array.h"
#include "optim/data/table/row_source.h"

namespace gv {
namespace {

constexpr auto any_element = NpyArray::Elements::numbers_or_text;

/// One array, whose last column is the target, or an array x and its targets y. Columns are called
/// x0, x1, ... as numpy counts them. Either may be text, which means what it would in CSV; where x
/// is, numbers of y become words.
class NpyRows : public RowSource {
 public:
  NpyRows(std::string path, std::string format, NpyArray x, std::optional<NpyArray> y)
      : path_(std::move(path)), x_(std::move(x)), y_(std::move(y)) {
    format_ = std::move(format);
    for (std::uint64_t c = 0; c < x_.columns(); ++c)
      names_.push_back(std::string("x").append(std::to_string(c)));
    if (y_) names_.emplace_back("y");
    usual_target_ = names_.size() - 1;
    if (names_.size() < 2)
      throw std::runtime_error(path_ +
                               ": one column; an array needs features and, as its last "
                               "column, the target (or an .npz of `x` and `y`)");
    const bool words = x_.is_text() || (y_ && y_->is_text());
    texts_.resize((x_.is_text() ? x_.columns() : 0) + (y_ && words ? 1 : 0));
    numbers_.resize(names_.size() - texts_.size());
    if (y_ && (y_->rows() != x_.rows() || y_->columns() != 1))
      throw std::runtime_error(path_ + ": `y` has " + std::to_string(y_->rows()) + " x " +
                               std::to_string(y_->columns()) + " values for the " +
                               std::to_string(x_.rows()) + " rows of `x`; save one for each");
  }

  bool next() override {
    if (row_ == x_.rows()) return false;
    if (x_.is_text())
      x_.read(std::span(texts_).first(x_.columns()));
    else
      x_.read(std::span(numbers_).first(x_.columns()));
    if (y_) read_target(*y_);
    words_.assign(texts_.begin(), texts_.end());
    ++row_;
    return true;
  }
  std::string number_text(std::size_t column) const override {
    return column < x_.columns() && !x_.is_text() ? x_.text_of_last(column) : y_->text_of_last(0);
  }
  std::string place() const override {
    return path_ + ": row " + std::to_string(row_ == 0 ? 0 : row_ - 1);
  }
  std::uint64_t most_rows() override { return x_.rows(); }

 private:
  void read_target(NpyArray& y) {
    if (y.is_text()) return y.read(std::span(texts_).last(1));
    if (texts_.empty()) return y.read(std::span(numbers_).last(1));
    double number = 0;
    y.read(std::span(&number, 1));
    texts_.back() = std::isnan(number) ? "" : y.text_of_last(0);
  }

  std::string path_;
  NpyArray x_;
  std::optional<NpyArray> y_;
  std::vector<std::string> texts_;  ///< of this row; words_ are views of it
  std::uint64_t row_ = 0;
};

/// Opens an entry by either case of its letter.
std::unique_ptr<ByteSource> entry_of(const std::string& path, char name) {
  auto entry = open_zip_entry(path, std::string(1, name) + ".npy");
  if (entry) return entry;
  return open_zip_entry(path, std::string(1, static_cast<char>(name - 'a' + 'A')) + ".npy");
}

}  // namespace

std::unique_ptr<RowSource> open_npy(const std::string& path) {
  return std::make_unique<NpyRows>(
      path, "NPY", NpyArray(path, open_bytes(path), any_element), std::nullopt);
}

std::unique_ptr<RowSource> open_npz(const std::string& path) {
  auto x = entry_of(path, 'x');
  auto y = entry_of(path, 'y');
  if (!x || !y)
    throw std::runtime_error(path + ": an archive without " + (x ? "`y`" : "`x`") +
                             "; save both: numpy.savez(file, x=features, y=targets)");
  return std::make_unique<NpyRows>(path,
                                   "NPZ",
                                   NpyArray(path + "(x)", std::move(x), any_element),
                                   NpyArray(path + "(y)", std::move(y), any_element));
}

}  // namespace gv
