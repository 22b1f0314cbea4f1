#pragma once

#include <string>
#include <string_view>

namespace gv::cli {

/// Writes a file that the user has asked for. Throws std::runtime_error with its path.
void write_file(const std::string& path, std::string_view bytes);

/// A new folder of this user alone, which is deleted at the end.
class TemporaryFolder {
 public:
  /// Throws std::runtime_error if it cannot be made. `beginning`: of its path.
  explicit TemporaryFolder(const std::string& beginning);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Throws std::invalid_argument if the file exists. `option`: prefix of the message, or "".
void require_new(const std::string& path, const std::string& option = "");

/// Place of an answer: a README.md with two marker lines, and a picture next to it.
class AnswerPage {
 public:
  /// Uses the lines `<!-- answer -->` and `<!-- end of answer -->` and the picture answer.svg for
  /// "sweep"; for another `stem` `<!-- answer: STEM -->` and so on, and STEM.svg.
  AnswerPage(const std::string& folder, const std::string& stem);

  const std::string& page() const { return page_; }
  const std::string& picture() const { return picture_; }

  /// Puts the text between the two lines and changes nothing else. Throws std::runtime_error if
  /// there is no such page or it has no such lines.
  void write(const std::string& answer) const;
  /// Writes the picture; an empty drawing removes the file. Throws std::runtime_error if it fails.
  void draw(const std::string& svg) const;

 private:
  std::string page_, picture_, begin_, end_;
};

}  // namespace gv::cli
