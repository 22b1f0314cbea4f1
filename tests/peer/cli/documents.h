#pragma once

#include <string>
#include <vector>

namespace gv {

/// A fenced block of a page.
struct Block {
  std::string language;  ///< "sh" for commands that a test runs, "text" for a screen
  std::string file;      ///< name to save it as, from a line `<!-- file: NAME -->` before it, or ""
  std::vector<std::string> lines;
};

/// A page of the documents.
struct Page {
  std::string path;  ///< relative to the root of the project
  std::vector<Block> blocks;
  std::vector<std::string> prose;  ///< lines outside blocks
};

/// Throws std::runtime_error if the page does not exist.
Page read_page(const std::string& path);
/// Returns README.md and docs/, sorted: the pages for users.
std::vector<std::string> user_pages();
/// Returns every Markdown file of the project.
std::vector<std::string> all_pages();
/// Returns the whole text of a page.
std::string text_of_page(const std::string& path);

/// Returns the targets of a page's links and pictures, without those that begin with a scheme.
std::vector<std::string> local_links(const Page& page);
/// Returns the anchors of its headings, as GitHub and mkdocs both make them.
std::vector<std::string> anchors_of(const Page& page);

}  // namespace gv
