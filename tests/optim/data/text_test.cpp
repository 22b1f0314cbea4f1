#include "optim/data/sets/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/data/partition.h"
#include "optim/train/predictor.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class Text : public ::testing::Test {
 protected:
  TrainTest read(const std::string& content, std::uint32_t context) const {
    std::ofstream(path_, std::ios::binary) << content;
    return read_text(path_.string(), context);
  }
  std::string error(const std::string& content, std::uint32_t context) const {
    try {
      read(content, context);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }

  ScratchFolder scratch_;
  fs::path path_ = fs::path(scratch_.path()) / "text.txt";
};

std::string decoded(const Dataset& text) {
  std::string characters;
  for (const std::uint8_t token : text.tokens)
    characters.push_back(static_cast<char>(text.vocabulary[token]));
  return characters;
}

/// Returns text of `length` characters in which no two adjacent windows are equal.
std::string prose(std::size_t length) {
  std::string characters;
  Rng rng(4);
  while (characters.size() < length) {
    characters += "abc";
    characters.push_back(static_cast<char>('d' + rng.below(20)));
  }
  return characters.substr(0, length);
}

TEST_F(Text, TokensSpellTheFile) {
  const std::string content = "to be, or not to be:\n\xc3\xa9\xff that is the question.......\n";
  const TrainTest text = read(content, 3);
  EXPECT_EQ(decoded(*text.train) + decoded(*text.test), content);
  EXPECT_EQ(text.test->tokens.size(), content.size() / 10);  // the last tenth
  EXPECT_TRUE(std::ranges::is_sorted(text.train->vocabulary));
  EXPECT_EQ(text.train->vocabulary, text.test->vocabulary);
  EXPECT_EQ(text.train->classes, text.train->vocabulary.size());
  EXPECT_EQ(text.train->context, 3U);
  EXPECT_EQ(text.train->rows, text.train->tokens.size() - 3);
}

TEST_F(Text, EveryWindowHasItsTarget) {
  const TrainTest text = read(prose(200), 7);
  const std::uint32_t last = text.train->rows - 1;
  std::vector<std::uint8_t> inputs(7);
  std::vector<std::uint8_t> following(7);
  text.train->gather_windows(std::vector<std::uint32_t>{last}, inputs, following);
  EXPECT_EQ(following.back(), text.train->tokens.back());
}

TEST_F(Text, WhatCannotBeReadIsNamedWithItsRemedy) {
  EXPECT_NE(error("", 4).find("is empty"), std::string::npos);
  EXPECT_EQ(error(prose(50), 4), "");
  const std::string shortest = error(prose(49), 4);
  EXPECT_NE(shortest.find("has 49 bytes; windows of 4 need at least 50"), std::string::npos)
      << shortest;
  EXPECT_EQ(shortest.rfind(path_.string() + ": ", 0), 0U);
  EXPECT_THROW(read_text(path_.string() + "-none", 4), std::runtime_error);
  EXPECT_THROW(read_text(scratch_.path(), 4), std::runtime_error);
  EXPECT_THROW(read(prose(50), 0), std::invalid_argument);
}

/// Windows are as many bytes long, not letters.
TEST_F(Text, ALetterBeyondAsciiIsSeveralBytes) {
  std::string letters;
  for (int k = 0; k < 50; ++k) letters += "aé日";  // 1, 2 and 3 bytes
  const TrainTest text = read(letters, 4);
  EXPECT_EQ(text.train->tokens.size() + text.test->tokens.size(), 300U);
  EXPECT_EQ(text.train->vocabulary.size(), 6U);
  EXPECT_EQ(text.train->rows, 270U - 4);
  EXPECT_EQ(decoded(*text.train), letters.substr(0, 270));
}

/// Returns the range of tokens in the windows of a part: first and one past the last.
std::pair<std::size_t, std::size_t> reach(const std::vector<std::uint32_t>& part,
                                          std::uint32_t context) {
  return {part.front(), std::size_t{part.back()} + context + 1};
}

TEST_F(Text, PeersReadStretchesOfTheirOwn) {
  const TrainTest text = read(prose(1003), 5);
  const std::size_t tokens = text.train->tokens.size();
  for (const char* kind : {"iid", "quantity"}) {
    for (const std::uint32_t peers : {1U, 2U, 7U}) {
      PartitionSpec spec;
      spec.kind = kind;
      for (std::uint32_t i = 0; i < peers; ++i) spec.sizes.push_back(1 + i);
      const Partition parts = partition(*text.train, peers, spec, Rng(1));
      std::size_t end = 0;
      for (const std::vector<std::uint32_t>& part : parts) {
        EXPECT_EQ(reach(part, 5).first, end);  // nothing twice, nothing left out
        EXPECT_EQ(part.back() - part.front() + 1, part.size());
        end = reach(part, 5).second;
      }
      EXPECT_EQ(end, tokens);
      if (spec.kind == "iid") {
        EXPECT_LE(parts.front().size() - parts.back().size(), 1U);
      }
    }
  }
}

TEST_F(Text, TooManyPeersOrAnotherPartitionAreRefused) {
  const TrainTest text = read(prose(1000), 8);  // 900 to divide, 9 for a window
  EXPECT_EQ(partition(*text.train, 100, {}, Rng(1)).size(), 100U);
  try {
    partition(*text.train, 101, {}, Rng(1));
    ADD_FAILURE() << "101 peers with at most 8 bytes each";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("gets 8 of 900 bytes, a window of 8 needs 9"),
              std::string::npos)
        << e.what();
  }
  for (const char* kind : {"dirichlet", "by-label"}) {
    PartitionSpec spec;
    spec.kind = kind;
    EXPECT_THROW(partition(*text.train, 2, spec, Rng(1)), std::invalid_argument);
  }
}

TEST_F(Text, FitsNoModelOfTables) {
  const TrainTest text = read(prose(100), 4);
  for (const char* kind : {"mlp", "softmax", "linear"}) {
    EXPECT_THROW(make_objective({.kind = kind}, {text.train, text.test, {0, 1}, Rng(1)}),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace gv
