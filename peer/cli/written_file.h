#pragma once

#include <string>
#include <string_view>

namespace gv::cli {

/// Writes a file that the user has asked for. Throws std::runtime_error with its path.
void write_file(const std::string& path, std::string_view bytes);

/// The place of an answer: a README.md with two lines, and a picture beside it.
class AnswerPage {
 public:
  /// Takes `<!-- answer -->` and `<!-- end of answer -->` as the lines of "sweep", and answer.svg
  /// as its picture; for another `stem` they are `<!-- answer: STEM -->` and so on, and STEM.svg.
  AnswerPage(const std::string& folder, const std::string& stem);

  const std::string& page() const { return page_; }
  const std::string& picture() const { return picture_; }

  /// Puts the text between the two lines; nothing else of the page changes. Throws
  /// std::runtime_error where there is no such page, or it has no such lines.
  void write(const std::string& answer) const;
  /// Throws std::runtime_error where it cannot be written. An empty drawing removes the file.
  void draw(const std::string& svg) const;

 private:
  std::string page_, picture_, begin_, end_;
};

}  // namespace gv::cli
