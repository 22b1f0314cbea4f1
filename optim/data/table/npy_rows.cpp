#include <optional>
#include <stdexcept>

#include "optim/data/table/npy_array.h"
#include "optim/data/table/row_source.h"

namespace gv {
namespace {

/// One array, whose last column is the target, or an array x and its targets y. Columns are called
/// x0, x1, ... as numpy counts them.
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
    if (y_ && (y_->rows() != x_.rows() || y_->columns() != 1))
      throw std::runtime_error(path_ + ": `y` has " + std::to_string(y_->rows()) + " x " +
                               std::to_string(y_->columns()) + " numbers for the " +
                               std::to_string(x_.rows()) + " rows of `x`; save one for each");
  }

  bool next() override {
    if (row_ == x_.rows()) return false;
    numbers_.resize(names_.size());
    x_.read(std::span(numbers_).first(x_.columns()));
    if (y_) y_->read(std::span(numbers_).last(1));
    ++row_;
    return true;
  }
  std::string place() const override {
    return path_ + ": row " + std::to_string(row_ == 0 ? 0 : row_ - 1);
  }
  std::uint64_t most_rows() override { return x_.rows(); }

 private:
  std::string path_;
  NpyArray x_;
  std::optional<NpyArray> y_;
  std::uint64_t row_ = 0;
};

/// By either case of the letter.
std::unique_ptr<ByteSource> entry_of(const std::string& path, char name) {
  auto entry = open_zip_entry(path, std::string(1, name) + ".npy");
  if (entry) return entry;
  return open_zip_entry(path, std::string(1, static_cast<char>(name - 'a' + 'A')) + ".npy");
}

}  // namespace

std::unique_ptr<RowSource> open_npy(const std::string& path) {
  return std::make_unique<NpyRows>(path, "NPY", NpyArray(path, open_bytes(path)), std::nullopt);
}

std::unique_ptr<RowSource> open_npz(const std::string& path) {
  auto x = entry_of(path, 'x');
  auto y = entry_of(path, 'y');
  if (!x || !y)
    throw std::runtime_error(path + ": an archive without " + (x ? "`y`" : "`x`") +
                             "; save both: numpy.savez(file, x=features, y=targets)");
  return std::make_unique<NpyRows>(
      path, "NPZ", NpyArray(path + "(x)", std::move(x)), NpyArray(path + "(y)", std::move(y)));
}

}  // namespace gv
