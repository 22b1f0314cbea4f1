#include <algorithm>
#include <stdexcept>

#include "optim/data/libsvm.h"
#include "optim/data/table/bounds.h"
#include "optim/data/table/row_source.h"

namespace gv {
namespace {

/// Sparse rows made dense: what a line does not name is zero. The columns are called 1, 2, ... as
/// in the file, and the label comes last.
class LibSvmRows : public RowSource {
 public:
  LibSvmRows(const std::string& path, std::size_t least_columns)
      : path_(path), file_(read_libsvm_file(path)) {
    format_ = "LIBSVM";
    const std::uint64_t columns = std::max<std::uint64_t>(file_.features, least_columns);
    if (columns > table_bounds::columns || columns * file_.labels.size() > table_bounds::dense)
      throw std::runtime_error(path + ": " + std::to_string(file_.labels.size()) + " samples of " +
                               std::to_string(columns) +
                               " columns are too many for a table; `data: { kind: libsvm }` keeps "
                               "them sparse");
    for (std::uint64_t c = 1; c <= columns; ++c) names_.push_back(std::to_string(c));
    names_.emplace_back("label");
    usual_target_ = columns;
  }

  bool next() override {
    if (row_ == file_.labels.size()) return false;
    numbers_.assign(names_.size(), 0);
    const SparseSample sample = file_.rows.row(row_);
    for (std::size_t k = 0; k < sample.columns.size(); ++k)
      numbers_[sample.columns[k]] = static_cast<double>(sample.values[k]);
    numbers_.back() = static_cast<double>(file_.labels[row_++]);
    return true;
  }
  std::string place() const override {
    return path_ + ":" + std::to_string(row_ == 0 ? 0 : file_.lines[row_ - 1]);
  }
  std::uint64_t most_rows() override { return file_.labels.size(); }

 private:
  std::string path_;
  LibSvmFile file_;
  std::uint32_t row_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> open_libsvm(const std::string& path, std::size_t least_columns) {
  return std::make_unique<LibSvmRows>(path, least_columns);
}

}  // namespace gv
