#pragma once

#include <string>
#include <vector>

namespace gv {

/// A fenced block of a page.
struct Block {
  std::string language;  ///< "sh": commands that a test runs; "text": a screen
  std::string file;      ///< of `<!-- file: NAME -->` in the line before it: what it is saved as
  std::vector<std::string> lines;
};

/// A page of the documents.
struct Page {
  std::string path;  ///< seen from the root of the project
  std::vector<Block> blocks;
  std::vector<std::string> prose;  ///< the lines that stand in no block
};

/// Throws std::runtime_error where there is no such page.
Page read_page(const std::string& path);
/// README.md and docs/, sorted: what users read.
std::vector<std::string> user_pages();
/// Every Markdown file of the project.
std::vector<std::string> all_pages();
/// The text of a page, whole.
std::string text_of_page(const std::string& path);

/// Targets of the links and pictures of a page, without those that begin with a scheme.
std::vector<std::string> local_links(const Page& page);
/// The anchors that its headings make, as GitHub and mkdocs both do.
std::vector<std::string> anchors_of(const Page& page);

}  // namespace gv
