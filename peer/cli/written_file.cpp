#include "peer/cli/written_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/study/sweep/sweep_folder.h"

namespace gv::cli {
namespace {

constexpr std::size_t largest_page = std::size_t{1} << 20;

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
}

TemporaryFolder::TemporaryFolder(const std::string& beginning) : path_(beginning + "-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": cannot be made");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void require_new(const std::string& path, const std::string& option) {
  if (std::filesystem::exists(path))
    throw std::invalid_argument(option + path +
                                " is there already; name another file, or remove it");
}

AnswerPage::AnswerPage(const std::string& folder, const std::string& stem) {
  const bool main = stem == "sweep";
  const std::string which = main ? "" : ": " + stem;
  page_ = (std::filesystem::path(folder) / "README.md").string();
  picture_ = (std::filesystem::path(folder) / ((main ? "answer" : stem) + ".svg")).string();
  begin_ = fmt::format("<!-- answer{} -->", which);
  end_ = fmt::format("<!-- end of answer{} -->", which);
}

void AnswerPage::write(const std::string& answer) const {
  const std::optional<std::string> text = read_whole(page_, largest_page);
  if (!text) throw std::runtime_error(page_ + ": cannot be read; the answer goes into it");
  // Lines of a page from Windows end with CR LF.
  const std::size_t begin = text->find('\n', text->find(begin_));
  const std::size_t end = text->find(end_, begin);
  if (begin == std::string::npos || end == std::string::npos)
    throw std::runtime_error(
        fmt::format("{}: there is no place for the answer\nhelp:  write the lines `{}` and `{}`",
                    page_, begin_, end_));
  write_whole(page_, text->substr(0, begin + 1) + answer + text->substr(end));
}

void AnswerPage::draw(const std::string& svg) const {
  std::error_code ignored;
  if (svg.empty())
    std::filesystem::remove(picture_, ignored);
  else
    write_whole(picture_, svg);
}

}  // namespace gv::cli
