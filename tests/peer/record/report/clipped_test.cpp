#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "peer/record/report/screen.h"
#include "peer/record/report/warnings.h"

namespace gv {
namespace {

using Clipped = std::map<PeerId, std::vector<ClippedFlows>>;

/// Peer 7 lies to peers 0 and 6. The data of peers 2 and 3 differ.
const Clipped seen{{0, {{.of = 7, .exchanges = 300, .far = 290, .steps = 20}}},
                   {2, {{.of = 3, .exchanges = 900, .far = 0}}},
                   {3, {{.of = 2, .exchanges = 40, .far = 0}}},
                   {6, {{.of = 7, .exchanges = 300, .far = 300, .steps = 40}}}};

TEST(ClippedText, NamesWhoWasFarAndCountsTheOthers) {
  std::string text = clipped_text(seen);
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  "))
    text.erase(at, text.find_first_not_of("\n ", at) - at - 1);
  std::ranges::replace(text, '\n', ' ');
  EXPECT_NE(text.find("peer 7 was further away than honest peers are in 590"), std::string::npos)
      << text;
  EXPECT_NE(text.find("seen by peers 0, 6, which it has moved by 30 of"), std::string::npos)
      << text;
  EXPECT_NE(text.find("by a little, 940 halves of exchanges with the others"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("peer 3"), std::string::npos) << "honest peers are not named";
}

TEST(ClippedText, FitsTheScreen) {
  Clipped all;
  for (PeerId i = 0; i < 1000; ++i)
    all[i] = {{.of = 1'000'000 + i % 9, .exchanges = UINT64_MAX / 2000, .far = UINT64_MAX / 3000}};
  std::string line;
  std::size_t lines = 0;
  for (std::istringstream in(clipped_text(all)); std::getline(in, line); ++lines)
    EXPECT_LE(columns_of(line), 80U) << line;
  EXPECT_LE(lines, 20U) << "a few are named";
  EXPECT_EQ(clipped_text({}), "");
}

TEST(ClippedJson, BeginsWithWhoWasFarMostOften) {
  EXPECT_EQ(clipped_json(seen).dump(),
            R"([{"peer":7,"exchanges":600,"far":590,"still":0,"steps":30.0,"by":[0,6]},)"
            R"({"peer":3,"exchanges":900,"far":0,"still":0,"steps":0.0,"by":[2]},)"
            R"({"peer":2,"exchanges":40,"far":0,"still":0,"steps":0.0,"by":[3]}])");
}

}  // namespace
}  // namespace gv
