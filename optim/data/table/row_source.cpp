#include "optim/data/table/row_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "optim/data/field.h"
#include "optim/data/libsvm.h"
#include "optim/data/reading/words.h"
#include "optim/data/table/npy_array.h"
#include "optim/data/table/table_plan.h"
#include "optim/printable.h"

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

/// Returns whether the first line with more than a label is `label column:value`: a row of zeros
/// has only a label.
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

constexpr auto any_element = NpyArray::Elements::numbers_or_text;

/// One array, whose last column is the target, or an array x and its targets y. Columns are named
/// x0, x1, ... as in NumPy. Either array may be text, with the meaning of CSV; if x is text,
/// numbers of y become words.
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
  std::vector<std::string> texts_;  ///< texts of this row; words_ views them
  std::uint64_t row_ = 0;
};

/// Opens an entry by its letter in lower or upper case.
std::unique_ptr<ByteSource> entry_of(const std::string& path, char name) {
  auto entry = open_zip_entry(path, std::string(1, name) + ".npy");
  if (entry) return entry;
  return open_zip_entry(path, std::string(1, static_cast<char>(name - 'a' + 'A')) + ".npy");
}

/// Sparse rows made dense: absent columns are zero. The columns are named 1, 2, ... (or 0, 1, ...)
/// as in the file, and the label comes last, as a word.
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

constexpr std::size_t piece = 1U << 20;
constexpr const char* remedy =
    "; a table begins with a line of its columns' names (or write `header: false`), and every line "
    "has one value for each";

class CsvFile final : public RowSource {
 public:
  CsvFile(const std::string& path, bool header)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), buffer_(piece) {
    if (file_ < 0) throw std::runtime_error(path_ + ": cannot be opened");
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
    try {
      begin();
      header ? read_header() : number_columns();
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~CsvFile() override { ::close(file_); }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  bool next() override {
    if (std::exchange(pending_, false)) return true;
    std::string_view record;
    do {
      if (!take_record(record)) return false;
    } while (record.empty());
    split(record);
    if (words_.size() != names_.size())
      throw RowError(place() + ": " + counted(words_.size(), "value") + ", and the header has " +
                     std::to_string(names_.size()) + " names" + remedy);
    return true;
  }

  std::string place() const override { return path_ + ":" + std::to_string(line_); }

  /// A first pass over the file: counts the line ends, plus one for a last line without end. A row
  /// has a byte for each column, so there are at most as many cells as bytes.
  std::uint64_t most_rows() override {
    std::vector<char> bytes(piece);
    std::uint64_t lines = 1;
    for (off_t at = 0;;) {
      const ssize_t count = ::pread(file_, bytes.data(), bytes.size(), at);
      if (count <= 0) return std::min(lines, static_cast<std::uint64_t>(at) / names_.size() + 1);
      lines +=
          static_cast<std::uint64_t>(std::count(bytes.data(), bytes.data() + count, line_feed_));
      at += count;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(place() + ": " + what);
  }

  /// Reads the first record and chooses the separator by it.
  void begin() {
    format_ = "CSV";
    fill(0);
    const std::string_view start(buffer_.data(), end_);
    if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF"))
      throw std::runtime_error(path_ + ": is UTF-16; save it as UTF-8");
    if (start.find('\n') == std::string_view::npos && start.find('\r') != std::string_view::npos)
      line_feed_ = '\r';
    if (start.starts_with(byte_order_mark)) begin_ = byte_order_mark.size();
    std::string_view record;
    do {
      if (!take_record(record)) throw std::runtime_error(path_ + ": has no lines" + remedy);
    } while (record.empty());
    separator_ = separator_of(record);
    split(record);
    if (words_.size() > table_bounds::columns)
      fail(std::to_string(words_.size()) + " columns; at most " +
           std::to_string(table_bounds::columns) + " are read");
  }

  void read_header() {
    if (std::ranges::all_of(words_,
                            [](std::string_view w) { return number_of<double>(w).has_value(); }))
      fail(std::string("the first line has numbers instead of the columns' names") + remedy);
    for (const std::string_view word : words_) add_name(visible_name(word));
  }

  /// Numbers the columns: the first record is a row of a file without names.
  void number_columns() {
    for (std::size_t k = 0; k < words_.size(); ++k)
      names_.push_back(std::string("x").append(std::to_string(k)));
    usual_target_ = names_.size() - 1;
    pending_ = true;
  }

  void add_name(const std::string& word) {
    const std::string number = std::to_string(names_.size() + 1);
    if (word.empty())
      fail("column " + number +
           " has no name; if it counts the rows, save the table without it (pandas: "
           "to_csv(file, index=False))");
    if (word.size() > table_bounds::name_bytes)
      fail("the name of column " + number + " is longer than " +
           std::to_string(table_bounds::name_bytes) + " bytes: " + shown(word));
    if (!is_printable(word))
      fail("the name of column " + number + ", " + shown(word) + ", " + why_unprintable(word));
    if (!known_.emplace(word).second)
      fail("two columns are called " + shown(word) +
           "; give each a name of its own, or write `header: false` if this line is data");
    names_.emplace_back(word);
  }

  /// Returns the most frequent separator outside of quotes.
  static char separator_of(std::string_view header) {
    std::size_t commas = 0, semicolons = 0, tabs = 0;
    bool inside = false;
    for (const char c : header) {
      if (c == '"') inside = !inside;
      if (inside) continue;
      commas += c == ',' ? 1 : 0;
      semicolons += c == ';' ? 1 : 0;
      tabs += c == '\t' ? 1 : 0;
    }
    if (semicolons > commas && semicolons >= tabs) return ';';
    return tabs > commas ? '\t' : ',';
  }

  /// Keeps the first `kept` bytes from begin_ on and reads more after them.
  bool fill(std::size_t kept) {
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
    begin_ = 0;
    end_ = kept;
    if (end_ == buffer_.size()) {
      if (buffer_.size() >= table_bounds::record_bytes)
        fail("a line of more than " + std::to_string(table_bounds::record_bytes >> 20) +
             " MiB; is a quote opened there and never closed?");
      buffer_.resize(2 * buffer_.size());
    }
    const ssize_t count = ::read(file_, buffer_.data() + end_, buffer_.size() - end_);
    if (count < 0) fail("cannot be read; is the disk damaged?");
    end_ += static_cast<std::size_t>(count);
    return count > 0;
  }

  /// Returns the bytes from begin_ to the first end of a line after `from`.
  std::size_t line_end(std::size_t from) {
    for (;;) {
      const char* const start = buffer_.data() + begin_;
      const std::size_t size = end_ - begin_;
      const void* found =
          from < size ? std::memchr(start + from, line_feed_, size - from) : nullptr;
      if (found != nullptr)
        return static_cast<std::size_t>(static_cast<const char*>(found) - start);
      from = size;
      if (!fill(size)) return size;
    }
  }

  /// Reads a record without its line end; it spans several lines while quotes are open. Returns
  /// false at the end of the file.
  bool take_record(std::string_view& record) {
    line_ += lines_;
    std::size_t length = line_end(0);
    if (begin_ == end_) return false;
    lines_ = 1;
    Quotes quotes;
    while (stays_open(quotes, length)) {
      if (begin_ + length == end_)
        fail(
            "a quote is opened in this line and never closed; a quote inside of a text is "
            "written as two");
      length = line_end(length + 1);
      ++lines_;
    }
    record = {buffer_.data() + begin_, length};
    begin_ = std::min(begin_ + length + 1, end_);
    if (record.ends_with('\r')) record.remove_suffix(1);
    return true;
  }

  /// State of the search for quotes in a record: only a quote at the beginning of a field opens a
  /// text.
  struct Quotes {
    std::size_t at = 0;  ///< from begin_
    bool open = false;
    bool may_open =
        true;  ///< a field begins, or a text has just ended, which a doubled quote continues
  };

  /// Continues up to `to`; returns whether a quote is open there.
  bool stays_open(Quotes& quotes, std::size_t to) const {
    const char* const start = buffer_.data() + begin_;
    if (!quotes.open && std::memchr(start + quotes.at, '"', to - quotes.at) == nullptr)
      return false;
    for (; quotes.at < to; ++quotes.at) {
      const char c = start[quotes.at];
      const bool quote = c == '"' && (quotes.open || quotes.may_open);
      if (quote) quotes.open = !quotes.open;
      quotes.may_open = quote || (!quotes.open && (separates(c) || (quotes.may_open && c == ' ')));
    }
    return quotes.open;
  }
  /// Returns whether c is the separator; before the first record, any of the three may be.
  bool separates(char c) const {
    return separator_ != '\0' ? c == separator_ : c == ',' || c == ';' || c == '\t';
  }

  void split(std::string_view record) {
    words_.clear();
    const char* at = record.data();
    const char* const end = at + record.size();
    const bool quotes = std::memchr(at, '"', record.size()) != nullptr;
    for (;;) {
      if (quotes && opens_quote(at, end)) {
        words_.push_back(unquoted(at, end));
      } else {
        const char* const first = at;
        while (at != end && *at != separator_) ++at;
        words_.push_back(trimmed(first, at));
      }
      if (at == end) return;
      ++at;
    }
  }

  static std::string_view trimmed(const char* first, const char* last) {
    while (first != last && (*first == ' ' || *first == '\t')) ++first;
    while (first != last && (last[-1] == ' ' || last[-1] == '\t')) --last;
    return {first, last};
  }

  /// Returns whether a field begins with a quote, after optional blanks.
  bool opens_quote(const char*& at, const char* end) const {
    const char* first = at;
    while (first != end && *first == ' ') ++first;
    if (first == end || *first != '"') return false;
    at = first;
    return true;
  }

  /// Returns the text between quotes, with doubled ones replaced in place by one, and moves `at`
  /// after it.
  std::string_view unquoted(const char*& at, const char* end) {
    char* const text = buffer_.data() + (at + 1 - buffer_.data());
    char* to = text;
    for (++at;; ++at) {
      if (at == end) fail("a quote is opened and never closed");
      if (*at == '"' && (at + 1 == end || at[1] != '"')) break;
      if (*at == '"') ++at;
      *to++ = *at;
    }
    ++at;
    while (at != end && *at == ' ') ++at;
    if (at != end && *at != separator_)
      fail("text continues after a closing quote; a quote inside a text is written as two");
    return {text, to};
  }

  std::string path_;
  int file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< bytes that are read but not taken
  std::uint64_t line_ = 1;           ///< first line of the record
  std::uint64_t lines_ = 0;          ///< number of lines of the record
  char line_feed_ = '\n';            ///< the last character of a line
  char separator_ = '\0';            ///< 0 before the first record
  bool pending_ = false;             ///< words_ already has the first row
  std::set<std::string, std::less<>> known_;
};

}  // namespace

std::string RowSource::number_text(std::size_t column) const {
  return name_of(numbers_[column]);
}

std::unique_ptr<RowSource> open_rows(const std::string& path, const RowForm& form) {
  // Check before opening: opening a pipe without a writer would block.
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

std::unique_ptr<RowSource> open_npy(const std::string& path) {
  return std::make_unique<NpyRows>(path, "NPY", NpyArray(path, open_bytes(path), any_element),
                                   std::nullopt);
}

std::unique_ptr<RowSource> open_npz(const std::string& path) {
  auto x = entry_of(path, 'x');
  auto y = entry_of(path, 'y');
  if (!x || !y)
    throw std::runtime_error(path + ": an archive without " + (x ? "`y`" : "`x`") +
                             "; save both: numpy.savez(file, x=features, y=targets)");
  return std::make_unique<NpyRows>(path, "NPZ", NpyArray(path + "(x)", std::move(x), any_element),
                                   NpyArray(path + "(y)", std::move(y), any_element));
}

std::unique_ptr<RowSource> open_libsvm(const std::string& path, const RowForm& form) {
  return std::make_unique<LibSvmRows>(path, form);
}

// RFC 4180, "Common format and MIME type for CSV files", 2005:
//   file   := header record*                   lines end with LF or CRLF, the last one with either
//   record := field (separator field)*         or none
//   field  := word | '"' text '"'              a quote in text is doubled
// Also common deviations: a UTF-8 byte order mark, `;` or a tab as the separator, blanks around a
// word, quotes within a word (12" pipe), empty lines, which are skipped, and CR alone as the end of
// lines if the file has no LF.

std::unique_ptr<RowSource> open_csv(const std::string& path, bool header) {
  return std::make_unique<CsvFile>(path, header);
}

}  // namespace gv
