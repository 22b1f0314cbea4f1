#include "tests/tidy/house.h"

#include <sstream>

#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/text_of.h"

namespace gv::tidy {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One table defines which room may use which: a new include also needs the link line and the page,
/// or violates the table.
TEST(House, SourcesLinkLinesAndTheTableAgree) {
  const House sources = included_rooms(read_tree(source_folder()));
  const House libraries = linked_rooms(read_texts(source_folder()));
  const House table = listed_rooms(lines_of(gv::text_of(source_folder() + "/ARCHITECTURE.md")));
  EXPECT_EQ(together(unlike(sources, "sources include", libraries, "CMake links")), "");
  EXPECT_EQ(together(unlike(sources, "sources include", table, "ARCHITECTURE.md lists")), "");
}

/// Limits the house to a size that a newcomer grasps at a glance.
TEST(House, IsSeenAtAGlance) {
  const House house = included_rooms(read_tree(source_folder()));
  EXPECT_EQ(house.size(), 14U) << "graph, optim, gossip, gpu and ten of peer/";
  EXPECT_LE(arrows_of(house), 80U);
  EXPECT_GT(floors_of(house), 0U) << "a circle";
  EXPECT_LE(floors_of(house), 10U);
}

const House two_rooms{{"peer/a", {"optim", "peer/b"}}, {"peer/b", {}}};

TEST(House, IncludesAreReadByRoomAndNotByFolder) {
  const File a{"peer/a/deep/x.cpp",
               {"#include \"peer/a/x.h\"", "#include \"peer/b/y.h\"", "#include \"optim/rng.h\""}};
  const File b{"peer/b/y.h", {"#include <vector>"}};
  const File test{"tests/peer/a/x_test.cpp", {"#include \"peer/c/z.h\""}};
  EXPECT_EQ(together(unlike(included_rooms({a, b, test}), "is", two_rooms, "should be")), "");
}

TEST(House, LinkLinesAreThoseOfAllLibrariesOfARoom) {
  const File ground{"optim/CMakeLists.txt", {"target_link_libraries(gv_optim PRIVATE fmt::fmt)"}};
  const File a{"peer/a/CMakeLists.txt",
               {"target_link_libraries(gv_a", "  PUBLIC gv_b gv_part", "  PRIVATE fmt::fmt)",
                "add_library(gv_c STATIC c.cpp)"}};
  const File part{"peer/a/part/CMakeLists.txt", {"target_link_libraries(gv_part PUBLIC gv_optim)"}};
  const File b{"peer/b/CMakeLists.txt", {"gv_options(gv_b)"}};
  House expected = two_rooms;
  expected["optim"] = {};
  EXPECT_EQ(together(unlike(linked_rooms({ground, a, part, b}), "is", expected, "should be")), "");
}

TEST(House, TheTableIsReadRowByRow) {
  const House table = listed_rooms({"| folder | what stands there | may use |", "|---|---|---|",
                                    "| `peer/a/` | `x`, `y`: the one | `optim`, `b` |",
                                    "| `peer/b/` | the other | nothing of ours |",
                                    "| `python/` | a package | the library |"});
  EXPECT_EQ(together(unlike(table, "is", two_rooms, "should be")), "");
}

TEST(House, WhatIsUnlikeIsNamed) {
  const House other{{"peer/a", {"peer/b"}}, {"peer/c", {}}};
  EXPECT_EQ(unlike(two_rooms, "links", other, "lists"),
            (Findings{"peer/a: links optim, peer/b; lists peer/b", "peer/b: links it alone",
                      "peer/c: lists it alone"}));
}

TEST(House, FloorsAreThoseOfTheLongestWayDown) {
  EXPECT_EQ(arrows_of(two_rooms), 2U);
  EXPECT_EQ(floors_of(two_rooms), 2U);
  EXPECT_EQ(floors_of({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {"d"}}, {"d", {}}}), 4U);
  EXPECT_EQ(floors_of({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), 0U) << "a circle";
}

}  // namespace
}  // namespace gv::tidy
