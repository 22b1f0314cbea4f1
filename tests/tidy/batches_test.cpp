#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/tidy/cpp_tokens.h"
#include "tests/tidy/rules.h"

namespace gv::tidy {
namespace {

namespace fs = std::filesystem;

/// Returns the position after the `;` of the declaration that begins at `at`, or after the body if
/// it is a function.
std::size_t end_of_declaration(Tokens tokens, std::size_t at) {
  bool function = false;
  for (; at < tokens.size() && !tokens[at].is(";"); ++at) {
    if (tokens[at].is("(")) function = true;
    const bool body = tokens[at].is("{") && function;
    if (tokens[at].is("(") || tokens[at].is("[") || tokens[at].is("{")) at = closing(tokens, at);
    if (body) break;
  }
  return at + 1;
}

/// Returns the word before the first of `signs`, unless it names the member of a class.
std::string word_before(Tokens tokens, std::initializer_list<const char*> signs) {
  std::size_t at = 0;
  const auto ends = [&] {
    return std::ranges::any_of(signs, [&](const char* sign) { return tokens[at].is(sign); });
  };
  while (at < tokens.size() && !ends()) at = tokens[at].is("[") ? closing(tokens, at) + 1 : at + 1;
  if (at == 0 || tokens[at - 1].kind != Token::Kind::word) return "";
  return at > 1 && tokens[at - 2].is("::") ? "" : tokens[at - 1].text;
}

/// Returns the names that a declaration gives; none for an alias, which may be the same in two
/// sources, and for a member of a class.
std::vector<std::string> names_of(Tokens declaration) {
  const std::string& first = declaration[0].text;
  for (const char* none : {"using", "namespace", "static_assert", "TEST", "INSTANTIATE", "TYPED"})
    if (first.starts_with(none)) return {};
  if (first == "struct" || first == "class") return {declaration[1].text};
  if (first == "enum") return {declaration[declaration[1].is("class") ? 2 : 1].text};
  const auto value = std::ranges::find_if(
      declaration, [](const Token& t) { return t.is("=") || t.is("{") || t.is("("); });
  if (value == declaration.end() || value->is("(")) return {word_before(declaration, {"("})};
  std::vector<std::string> names;
  for (const Tokens part : split(declaration, ","))
    names.push_back(word_before(part, {"=", "{", "[", ";"}));
  return names;
}

/// Returns the names that unnamed namespaces of a source declare. Of templates, only some are
/// found.
std::vector<std::string> own_names(const File& file) {
  const std::vector<Token> all = tokens_of(file.lines);
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].is("namespace") || !all[i + 1].is("{")) continue;
    const Tokens inside = Tokens(all).subspan(i + 2, closing(all, i + 1) - i - 2);
    for (std::size_t at = 0; at < inside.size();) {
      const std::size_t end = std::min(end_of_declaration(inside, at), inside.size());
      for (const std::string& name : names_of(inside.subspan(at, end - at)))
        if (!name.empty()) names.push_back(name);
      at = end;
    }
  }
  return names;
}

/// Returns what two sources of a batch both call their own.
Findings shared_names(const std::vector<File>& batch) {
  std::map<std::string, std::string> owners;
  Findings found;
  for (const File& file : batch)
    for (const std::string& name : own_names(file)) {
      const std::string& owner = owners.try_emplace(name, file.path).first->second;
      if (owner != file.path)
        found.push_back(file.path + ": `" + name + "` is also in " + owner +
                        ", which is compiled in one batch with it: rename one of them");
    }
  return found;
}

/// Returns the sources of each batch of this build (gv_batches in cmake/GvTarget.cmake).
std::vector<std::vector<File>> batches() {
  const std::string root = source_folder() + "/";
  const fs::path build = fs::path(grapevine_program()).parent_path().parent_path();
  std::vector<std::vector<File>> found;
  for (const auto& entry : fs::recursive_directory_iterator(build)) {
    if (entry.path().parent_path().filename() != "Unity" || entry.path().extension() != ".cxx")
      continue;
    found.emplace_back();
    std::ifstream batch(entry.path());
    for (std::string line; std::getline(batch, line);) {
      if (!line.starts_with("#include \"" + root)) continue;
      File file{line.substr(10 + root.size(), line.size() - 11 - root.size()), {}};
      std::ifstream source(root + file.path);
      for (std::string text; std::getline(source, text);) file.lines.push_back(text);
      found.back().push_back(std::move(file));
    }
  }
  return found;
}

/// If a function of another source fits a call better, the compiler takes it without a warning.
TEST(Batches, NoTwoSourcesOfABatchShareAName) {
  const std::vector<std::vector<File>> all = batches();
  if (all.empty()) GTEST_SKIP() << "GV_BATCHES is off: each source is compiled alone";
  EXPECT_GT(all.size(), 30U);
  for (const std::vector<File>& batch : all) EXPECT_EQ(together(shared_names(batch)), "");
}

TEST(Batches, FindsWhatTwoSourcesDeclare) {
  const File a{"graph/a.cpp",
               {"namespace gv {", "namespace {", "constexpr double limit = 1, rows[] = {1, 2};",
                "struct Row { int limit_ = 0; };", "[[noreturn]] void refuse(int x) { throw x; }",
                "using Rows = std::vector<Row>;", "Row::Row() { refuse(1); }",
                "std::vector<int> list() {", "  return {1};", "}", "}", "void shown() {}", "}"}};
  EXPECT_EQ(own_names(a), (std::vector<std::string>{"limit", "rows", "Row", "refuse", "list"}));
  const File b{"graph/b.cpp", {"namespace {", "int list(int shown) {", "}", "}"}};
  const File c{"graph/c.cpp", {"namespace {", "int shown = 0;", "}", "int list();"}};
  EXPECT_EQ(shared_names({a, b, c}),
            (Findings{"graph/b.cpp: `list` is also in graph/a.cpp, which is compiled in one batch "
                      "with it: rename one of them"}));
}

}  // namespace
}  // namespace gv::tidy
