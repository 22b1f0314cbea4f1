#include <algorithm>
#include <stdexcept>

#include "optim/data/libsvm.h"
#include "optim/data/table/bounds.h"
#include "optim/data/table/row_source.h"

namespace gv {
namespace {

/// Sparse rows made dense: what a line does not name is zero. The columns are called 1, 2, ... (or
/// 0, 1, ...) as in the file, and the label comes last, as a word.
class LibSvmRows : public RowSource {
 public:
  LibSvmRows(const std::string& path, const RowForm& form)
      : path_(path), file_(read_libsvm_file(path, form.first_column)) {
    format_ = "LIBSVM";
    const std::uint64_t columns = std::max<std::uint64_t>(file_.features, form.least_columns);
    if (columns > table_bounds::columns || columns * file_.rows() > table_bounds::dense)
      throw std::runtime_error(path + ": " + std::to_string(file_.rows()) + " samples of " +
                               std::to_string(columns) +
                               " columns are too many for a table; `data: { kind: libsvm }` keeps "
                               "them sparse");
    for (std::uint64_t c = 0; c < columns; ++c)
      names_.push_back(std::to_string(c + file_.first_column));
    names_.emplace_back("label");
    usual_target_ = columns;
  }

  bool next() override {
    if (row_ == file_.rows()) return false;
    numbers_.assign(names_.size() - 1, 0);
    for (std::uint64_t k = file_.begin(row_); k < file_.ends[row_]; ++k)
      numbers_[file_.columns[k]] = file_.values[k];
    words_.assign(1, file_.label(row_++));
    return true;
  }
  std::string place() const override {
    return path_ + ":" + std::to_string(row_ == 0 ? 0 : file_.lines[row_ - 1]);
  }
  std::uint64_t most_rows() override { return file_.rows(); }

 private:
  std::string path_;
  LibSvmFile file_;
  std::size_t row_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> open_libsvm(const std::string& path, const RowForm& form) {
  return std::make_unique<LibSvmRows>(path, form);
}

}  // namespace gv
