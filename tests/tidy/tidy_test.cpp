#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/tidy/rooms.h"
#include "tests/tidy/rules.h"

namespace gv::tidy {
namespace {

TEST(Tidy, TheTreeKeepsEveryRule) {
  const std::vector<File> tree = read_tree(source_folder());
  ASSERT_GT(tree.size(), 100U);
  Findings all;
  for (const File& file : tree)
    for (const std::string& finding : check(file)) all.push_back(finding);
  EXPECT_EQ(together(all), "");
}

TEST(Tidy, NoCircleGoesThroughTheRooms) {
  const std::vector<File> tree = read_tree(source_folder());
  EXPECT_GT(room_arrows(tree).size(), 50U);
  EXPECT_EQ(together(room_circles(tree)), "");
}

TEST(Rooms, ACircleIsNamedWithItsFiles) {
  const File a{"graph/a/x.h", {"#pragma once", "#include \"graph/b/y.h\""}};
  const File b{"graph/b/y.cpp", {"#include \"graph/b/y.h\"", "#include \"graph/c/z.h\""}};
  const File c{"graph/c/z.h", {"#include \"graph/a/x.h\"", "#include <vector>"}};
  EXPECT_TRUE(room_circles({a, b}).empty());
  const Findings found = room_circles({a, b, c});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            "graph/a -> graph/b -> graph/c -> graph/a; graph/a/x.h:2 includes graph/b/y.h; "
            "graph/b/y.cpp:2 includes graph/c/z.h; graph/c/z.h:1 includes graph/a/x.h");
}

/// A folder's own files are a room, and each subfolder another.
TEST(Rooms, AFolderMayNotIncludeWhatIncludesIt) {
  const File below{"graph/topology/x.cpp", {"#include \"graph/topologies.h\""}};
  const File above{"graph/topologies.cpp", {"#include \"graph/topology/x.h\""}};
  EXPECT_EQ(room_circles({below, above}).size(), 1U);
}

/// Follows the includes from the tests. A source is reached with its own header; a source without
/// one, with any header that it includes, because it implements part of that.
std::set<std::string> reached_by_tests(const std::vector<File>& tree) {
  static const std::regex include(R"re(^#include "([^"]+)")re");
  std::map<std::string, std::vector<std::string>> follows;
  std::set<std::string> paths;
  std::vector<std::string> open;
  for (const File& file : tree) paths.insert(file.path);
  for (const File& file : tree) {
    if (file.path.starts_with("tests/")) open.push_back(file.path);
    const std::string own = file.path.substr(0, file.path.rfind('.')) + ".h";
    const bool source = file.path.ends_with(".cpp") || file.path.ends_with(".cu");
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      follows[file.path].push_back(match[1]);
      if (source && (match[1] == own || !paths.contains(own)))
        follows[match[1]].push_back(file.path);
    }
  }
  std::set<std::string> reached;
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    if (!reached.insert(path).second) continue;
    for (const std::string& next : follows[path]) open.push_back(next);
  }
  return reached;
}

/// Two headers that define the same name break no build unless a source includes both, and the
/// linker's result is undefined. Found three times when branches met.
TEST(Tidy, NoNameIsDefinedInTwoHeaders) {
  static const std::regex space(R"(^namespace ([\w:]+) \{)");
  static const std::regex definition(R"(^(?:class|struct|enum class) (\w+)[^;]*$)");
  std::map<std::string, std::string> defined;
  Findings twice;
  for (const File& file : read_tree(source_folder())) {
    if (!file.path.ends_with(".h")) continue;
    std::string scope;
    std::smatch match;
    for (const std::string& line : file.lines) {
      if (std::regex_search(line, match, space)) scope = match[1];
      if (!std::regex_search(line, match, definition)) continue;
      const auto [at, first] = defined.try_emplace(scope + "::" + match[1].str(), file.path);
      if (!first && at->second != file.path)
        twice.push_back(at->first + ": " + at->second + " and " + file.path);
    }
  }
  EXPECT_GT(defined.size(), 100U);
  EXPECT_EQ(together(twice), "");
}

TEST(Tidy, EverySourceIsReachedByATest) {
  const std::vector<File> tree = read_tree(source_folder());
  const std::set<std::string> reached = reached_by_tests(tree);
  // Tests reach these sources by running the program; and a measured figure has no right value.
  const std::regex by_program(
      "^peer/cli/(?!embed/).*|^(peer/study/bench|gpu/bench)/.*|"
      "^peer/launch/(peer_process|watch_thread)\\..*");
  for (const File& file : tree) {
    if (file.path.ends_with(".proto") || std::regex_match(file.path, by_program)) continue;
    EXPECT_TRUE(reached.contains(file.path)) << file.path << ": no test reaches it";
  }
}

TEST(Tidy, NoPathOfAMachineIsInTheTree) {
  Findings all;
  std::set<std::string> read;
  for (const File& file : read_texts(source_folder())) {
    read.insert(file.path);
    if (file.path.starts_with("tests/tidy/")) continue;
    for (const std::string& finding : machine_path(file)) all.push_back(finding);
  }
  EXPECT_EQ(together(all), "");
  for (const char* path : {"README.md", "grapevine", "experiments/gpu/run", "peer/CMakeLists.txt"})
    EXPECT_TRUE(read.contains(path)) << path;
}

struct Bad {
  const char* rule;
  Findings (*check)(const File&);
  File file;
};

class Rule : public testing::TestWithParam<Bad> {};

TEST_P(Rule, FailsOnABadFile) {
  EXPECT_EQ(GetParam().check(GetParam().file).size(), 1U);
}

TEST_P(Rule, PassesAGoodOne) {
  const File good{"graph/mixing/mixing.cpp",
                  {"// Xiao, Boyd & Lall, IPSN 2005", "#include \"graph/mixing/mixing.h\"",
                   "int one() {", "}"}};
  EXPECT_TRUE(GetParam().check(good).empty());
}

std::vector<std::string> long_function(const std::string& indent) {
  std::vector<std::string> lines{indent + "void f() {"};
  lines.insert(lines.end(), 70, indent + "  g();");
  lines.push_back(indent + "}");
  return lines;
}

std::vector<std::string> wrapped_function() {
  std::vector<std::string> lines{"void f(int a,", "       int b) {"};
  lines.insert(lines.end(), 68, "  g();");
  lines.emplace_back("}");
  return lines;
}

INSTANTIATE_TEST_SUITE_P(
    EveryRule,
    Rule,
    testing::Values(
        Bad{"GraphOnOptim", include_direction, {"graph/a.cpp", {"#include \"optim/rng.h\""}}},
        Bad{"GossipOnPeer", include_direction, {"gossip/a.h", {"#include \"peer/fleet/fleet.h\""}}},
        Bad{"PeerOnTests",
            include_direction,
            {"peer/cli/a.cpp", {"#include \"tests/tidy/rules.h\""}}},
        Bad{"AsioInGossip", library_placement, {"gossip/peer.cpp", {"#include <asio/post.hpp>"}}},
        Bad{"AsioInSim", library_placement, {"peer/sim/a.cpp", {"#include <asio.hpp>"}}},
        Bad{"YamlInCli", library_placement, {"peer/cli/a.cpp", {"#include <yaml-cpp/yaml.h>"}}},
        Bad{"OpenSslInTcp",
            library_placement,
            {"peer/wire/tcp/a.cpp", {"#include <openssl/ssl.h>"}}},
        Bad{"ProtobufInTcp",
            library_placement,
            {"peer/wire/tcp/a.cpp", {"#include \"wire/wire.pb.h\""}}},
        Bad{"SharedScratch",
            shared_scratch,
            {"tests/a_test.cpp", {"const std::string path = testing::TempDir() + \"a\";"}}},
        Bad{"LongLine", line_length, {"graph/a.cpp", {std::string(101, 'x')}}},
        Bad{"LongFunction", function_length, {"graph/a.cpp", long_function("")}},
        Bad{"LongMethod", function_length, {"graph/a.h", long_function("  ")}},
        Bad{"WrappedFunction", function_length, {"graph/a.cpp", wrapped_function()}},
        Bad{"Cout", forbidden_words, {"optim/a.cpp", {"  std::cout << 1;"}}},
        Bad{"Rand", forbidden_words, {"peer/a.cpp", {"  int a = rand();"}}},
        Bad{"Clock", forbidden_words, {"gossip/a.cpp", {"std::chrono::system_clock::now();"}}},
        Bad{"Mutex", forbidden_words, {"gossip/a.h", {"  std::mutex m_;"}}},
        Bad{"Cuda", forbidden_words, {"peer/a.cpp", {"#ifdef GV_CUDA"}}},
        Bad{"Home", machine_path, {"experiments/a.py", {"open('/home/ann/data')"}}},
        Bad{"Toolkit", machine_path, {"experiments/gpu/run", {"for t in /usr/local/cuda; do"}}},
        Bad{"OtherToolkit", machine_path, {"experiments/gpu/README.md", {"or `/opt/cuda`"}}},
        Bad{"NegatedAwait", negated_await, {"gossip/a.cpp", {"  if (!co_await f()) co_return;"}}},
        Bad{"NoPaper", missing_source, {"graph/mixing/mixing.h", {"// averaging"}}},
        Bad{"MethodWithoutPaper",
            missing_source,
            {"gossip/new.cpp",
             {"// averaging", "namespace gv {", "extern const AlgorithmRow new_row{", "// 2017"}}}),
    [](const auto& row) { return std::string(row.param.rule); });

}  // namespace
}  // namespace gv::tidy
