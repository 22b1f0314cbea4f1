#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "optim/data/field.h"
#include "optim/data/table/row_source.h"
#include "optim/data/table/words.h"

namespace gv {
namespace {

constexpr std::size_t looked_at = 1U << 20;

/// The next word of a line, between blanks.
std::string_view word_of(std::string_view& line) {
  constexpr std::string_view blank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(word.size());
  return word;
}

/// Returns whether the first line that has more than a label is `label column:value`: a row of
/// zeros is a label alone.
bool looks_like_libsvm(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view label = word_of(line);
    if (label.empty() || label.starts_with('#')) continue;
    if (!number_of<double>(label)) return false;
    const std::string_view entry = word_of(line);
    if (entry.empty()) continue;
    const std::size_t colon = entry.find(':');
    return colon != std::string_view::npos && number_of<std::uint32_t>(entry.substr(0, colon));
  }
  return false;
}

}  // namespace

std::string RowSource::number_text(std::size_t column) const {
  return name_of(numbers_[column]);
}

std::unique_ptr<RowSource> open_rows(const std::string& path, const RowForm& form) {
  // Asked before it is opened: a pipe to which nobody writes would be waited for.
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream in;
  if (regular) in.open(path, std::ios::binary);
  if (!regular || !in)
    throw std::runtime_error(path + ": cannot be opened; name a CSV, NPY, NPZ or LIBSVM file");
  std::vector<char> first(looked_at);
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  std::string_view text(first.data(), static_cast<std::size_t>(in.gcount()));
  if (text.empty()) throw std::runtime_error(path + ": the file is empty");
  if (text.starts_with("\x93NUMPY")) return open_npy(path);
  if (text.starts_with("PK\x03\x04")) return open_npz(path);
  const std::string extension = std::filesystem::path(path).extension().string();
  const bool named = extension == ".libsvm" || extension == ".svm" || extension == ".svmlight";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (named || looks_like_libsvm(text)) return open_libsvm(path, form);
  return open_csv(path, form.header);
}

}  // namespace gv
