#include "peer/cli/bibtex.h"

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "peer/fleet/read/algorithm_reader.h"

namespace gv::cli {
namespace {

/// Returns "1705.09056" from "...; arXiv:1705.09056", or "" if the source is of another kind.
std::string arxiv_of(std::string_view summary) {
  const std::size_t at = summary.find("arXiv:");
  return at == std::string_view::npos ? "" : std::string(summary.substr(at + 6));
}

TEST(Bibtex, HasThePapersThatTheSummariesName) {
  for (const AlgorithmRow* row : algorithms()) {
    const std::vector<std::string> entries = bibtex_of(row->kind);
    EXPECT_FALSE(entries.empty()) << row->kind;
    std::string all;
    for (const std::string& entry : entries) {
      EXPECT_TRUE(entry.starts_with("@") && entry.ends_with("\n}\n")) << entry;
      EXPECT_EQ(std::ranges::count(entry, '{'), std::ranges::count(entry, '}')) << entry;
      for (const char* field : {"author = {", "title = {", "year = {"})
        EXPECT_NE(entry.find(field), std::string::npos) << entry;
      all += entry;
    }
    EXPECT_NE(all.find(arxiv_of(row->summary)), std::string::npos) << row->kind << "\n" << all;
  }
}

TEST(Bibtex, HasThePapersOfTheNamesUnderWhichMethodsTrainAgents) {
  for (const AlgorithmRow* row : algorithms()) {
    const AgentUse use = agent_use(*row);
    if (use.name.empty()) continue;
    const std::vector<std::string> entries = bibtex_of(use.name);
    ASSERT_EQ(entries.size(), 1U) << use.name;
    EXPECT_NE(entries[0].find(arxiv_of(use.source)), std::string::npos) << entries[0];
  }
}

TEST(Bibtex, KnowsNoPaperOfAMethodFromElsewhere) {
  EXPECT_TRUE(bibtex_of("gossip-lookahead").empty());
  EXPECT_TRUE(bibtex_of("").empty());
}

}  // namespace
}  // namespace gv::cli
