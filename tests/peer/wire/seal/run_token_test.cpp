#include <set>

#include <gtest/gtest.h>

#include "peer/wire/seal/peer_keys.h"

// Processes of one run recognize each other within a machine.

namespace gv {
namespace {

using Side = RunToken::Side;
constexpr const char* ends = "127.0.0.1:40000 127.0.0.1:27000";
constexpr const char* no_process_of_this_run = "it is not a process of this run";

TEST(RunTokens, ProveThatTheyAreKnown) {
  const RunToken token;
  const RunToken handed_on(token.text());
  for (const Side side : {Side::dials, Side::is_dialled})
    EXPECT_EQ(handed_on.objection(token.proof(side, ends, 7), side, ends, 7), "");
}

TEST(RunTokens, AreDrawnAnewForEachRun) {
  std::set<std::string> drawn;
  for (int k = 0; k < 100; ++k) drawn.emplace(RunToken().text());
  EXPECT_EQ(drawn.size(), 100U);
  for (const std::string& text : drawn) {
    EXPECT_EQ(text.size(), 32U);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << text;
  }
}

/// A proof is valid for one connection, end, run and time only.
TEST(RunTokens, ProveNothingElsewhere) {
  const RunToken token;
  const std::string proof = token.proof(Side::dials, ends, 7);
  const auto refused = [&](const RunToken& known, Side side, const std::string& at) {
    return known.objection(proof, side, at, 0).find(no_process_of_this_run) != std::string::npos;
  };
  EXPECT_FALSE(refused(token, Side::dials, ends));
  EXPECT_TRUE(refused(RunToken(), Side::dials, ends)) << "another run";
  EXPECT_TRUE(refused(token, Side::is_dialled, ends)) << "said back to who said it";
  EXPECT_TRUE(refused(token, Side::dials, "127.0.0.1:40001 127.0.0.1:27000")) << "handed on";
  EXPECT_NE(token.objection(proof, Side::dials, ends, 8).find("was made for another peer"),
            std::string::npos)
      << "to who listened at that port before";
}

TEST(RunTokens, NoTruncationAndNoFlippedBitIsBelieved) {
  const RunToken token;
  const std::string proof = token.proof(Side::dials, ends, 7);
  for (std::size_t length = 0; length < proof.size(); ++length)
    EXPECT_NE(token.objection(proof.substr(0, length), Side::dials, ends, 0), "") << length;
  EXPECT_NE(token.objection(proof + "x", Side::dials, ends, 0), "");
  for (std::size_t bit = 0; bit < 8 * proof.size(); ++bit) {
    std::string damaged = proof;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(token.objection(damaged, Side::dials, ends, 0), "") << bit;
  }
}

}  // namespace
}  // namespace gv
