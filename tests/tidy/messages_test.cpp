#include "tests/tidy/messages.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/tidy/message_page.h"

namespace gv::tidy {
namespace {

std::string page_path() {
  return source_folder() + "/docs/messages.md";
}

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  return lines_of(in);
}

std::vector<std::string> lines_of_page() {
  std::ifstream in(page_path());
  return lines_of(in);
}

/// Returns the lines that only one page has; or else the first line at a different place.
Findings differences(const std::vector<std::string>& there, const std::vector<std::string>& now) {
  const std::set<std::string> old(there.begin(), there.end()), fresh(now.begin(), now.end());
  Findings found;
  for (const std::string& line : now)
    if (!old.contains(line)) found.push_back("missing: " + line);
  for (const std::string& line : there)
    if (!fresh.contains(line)) found.push_back("too much: " + line);
  const auto [one, other] = std::ranges::mismatch(there, now);
  if (found.empty() && (one != there.end() || other != now.end()))
    found.push_back("out of order: " + (other != now.end() ? *other : *one));
  return found;
}

std::string together(const Findings& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

std::vector<Message> all_messages() {
  std::vector<Message> all;
  for (const File& file : read_tree(source_folder())) {
    static const char* const rooms[] = {"gossip/", "gpu/", "graph/", "optim/", "peer/"};
    if (std::ranges::none_of(rooms, [&](const char* r) { return file.path.starts_with(r); }))
      continue;
    for (Message& message : messages_in(file)) all.push_back(std::move(message));
  }
  std::ranges::stable_sort(all, {}, [](const Message& m) { return m.path; });
  return all;
}

/// Fails for a new message without its line, and for a line without its message. `.ci/messages`
/// writes the page again and keeps the notes of people.
TEST(Messages, EveryMessageOfTheProgramIsInTheReference) {
  const std::vector<Message> messages = all_messages();
  EXPECT_GT(messages.size(), 900U);
  const WrittenNotes written = read_notes(lines_of_page());
  const std::string page = message_page(messages, written);
  if (std::getenv("GRAPEVINE_RENEW_MESSAGES") != nullptr) std::ofstream(page_path()) << page;
  EXPECT_EQ(together(differences(lines_of_page(), lines_of(page))), "")
      << ".ci/messages writes docs/messages.md anew";
  EXPECT_EQ(together(loose_ends(messages, written)), "");
}

std::vector<std::string> said(const std::vector<std::string>& lines) {
  std::vector<std::string> texts;
  for (const Message& message : messages_in({"gossip/a.cpp", lines}))
    texts.push_back(message.text + (message.help.empty() ? "" : " HELP " + message.help));
  return texts;
}
using Texts = std::vector<std::string>;

TEST(Messages, WhatIsThrownIsFound) {
  EXPECT_EQ(said({"throw std::runtime_error(path_ + \": no such file\");"}),
            Texts{"<path>: no such file"});
  EXPECT_EQ(said({"throw UnusableRun(fmt::format(\"{}: {} of {} \"", "\"rows\", printable(p, 9),",
                  "n.size(), 3));"}),
            Texts{"<p>: <n> of <number> rows"});
  EXPECT_EQ(said({"throw std::logic_error(\"nobody ever sees this\");"}), Texts{});
}

TEST(Messages, AHelperSaysWhatItIsToldInItsOwnWords) {
  EXPECT_EQ(said({"void fail(const std::string& where, const std::string& what) {",
                  "  throw std::runtime_error(where + \": \" + what + \"; save it again\");", "}",
                  "void f() { fail(path, \"is too long\"); }"}),
            Texts{"<path>: is too long; save it again"});
}

TEST(Messages, TheRemedyIsTakenFromTheSamePlace) {
  EXPECT_EQ(said({"constexpr const char* help = \"write two\";",
                  "source.error(value, \"expected two peers\", help);"}),
            Texts{"expected two peers HELP write two"});
  EXPECT_EQ(said({"say(\"it is lost\\nhelp:  look for it\");"}),
            Texts{"it is lost HELP look for it"});
  EXPECT_EQ(said({"say({.where = \"\", .message = \"a target is missing\", .help = \"add it\"});"}),
            Texts{"a target is missing HELP add it"});
}

TEST(Messages, AChoiceIsShownWhole) {
  EXPECT_EQ(said({"log(fmt::format(\"{} peer{} lost\", n, n == 1 ? \"\" : \"s\"));"}),
            Texts{"<n> peer(s) lost"});
  EXPECT_EQ(said({"return far ? \"it is too far\" : \"it is too near\";"}),
            (Texts{"it is too far", "it is too near"}));
}

TEST(Messages, CommentsAndScreensAreNone) {
  EXPECT_EQ(said({"// throw std::runtime_error(\"not this one\");", "print(\"all is well\");"}),
            Texts{});
  const File screen{"peer/show/page/a.cpp", {"return \"the graph in words\";"}};
  EXPECT_TRUE(messages_in(screen).empty());
}

TEST(Messages, WhatPeopleWroteOutlivesARenewal) {
  const std::vector<Message> messages{{"gpu/a.cpp", 1, "no `device`", "take one"},
                                      {"gpu/a.cpp", 2, "no device", ""}};
  const WrittenNotes written =
      read_notes({"# Messages", "", "## GPUs", "", "Of graphics cards.", "", "- `no device`",
                  "    - It is off.", "- `gone`", "    - It was on."});
  const std::string page = message_page(messages, written);
  EXPECT_NE(page.find("# Messages\n\n## The fleet file"), std::string::npos) << page;
  EXPECT_NE(page.find("## GPUs\n\nOf graphics cards.\n\n- `` no `device` ``\n"
                      "    - What to do: `take one`\n- `no device`\n    - It is off.\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(loose_ends(messages, written).front(), "a note, and no message: GPUs: gone");
}

}  // namespace
}  // namespace gv::tidy
