#include "peer/launch/agent/transport/agent_frame.h"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace gv {
namespace {

std::string some_frames() {
  return encode({AgentKind::facts, 0, "{}"}) +
         encode({AgentKind::vector, 7, std::string("\1\0\0\0", 4)}) + encode({}) +
         encode({AgentKind::output, 4'000'000'000U, std::string(100'000, 'x')});
}

std::vector<AgentFrame> taken_in_pieces(const std::string& bytes, std::size_t piece) {
  AgentFrameReader reader;
  std::vector<AgentFrame> frames;
  for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
    reader.feed(std::string_view(bytes).substr(begin, piece));
    while (std::optional<AgentFrame> frame = reader.take()) frames.push_back(*frame);
  }
  return frames;
}

TEST(AgentFrames, ComeOutAsTheyWentInWhateverThePieces) {
  for (const std::size_t piece : {1U, 3U, 1000U, 1'000'000U}) {
    SCOPED_TRACE(piece);
    const std::vector<AgentFrame> frames = taken_in_pieces(some_frames(), piece);
    ASSERT_EQ(frames.size(), 4U);
    EXPECT_EQ(frames[0].kind, AgentKind::facts);
    EXPECT_EQ(frames[1].peer, 7U);
    EXPECT_EQ(frames[1].body, std::string("\1\0\0\0", 4));
    EXPECT_EQ(frames[2].kind, AgentKind::ping);
    EXPECT_EQ(frames[3].body.size(), 100'000U);
    EXPECT_EQ(frames[3].peer, 4'000'000'000U);
  }
}

TEST(AgentFrames, OfATruncatedStreamAreThoseThatAreWhole) {
  const std::string bytes = some_frames();
  for (std::size_t end = 0; end < 60; ++end)
    EXPECT_LE(taken_in_pieces(bytes.substr(0, end), 7).size(), 3U) << end;
}

TEST(AgentFrames, RefuseLengthsAndKindsThatCannotBe) {
  AgentFrameReader longest;
  longest.feed(std::string("\xff\xff\xff\xff", 4));
  EXPECT_THROW(longest.take(), std::runtime_error);
  AgentFrameReader shortest;
  shortest.feed(std::string("\1\0\0\0\1", 5));
  EXPECT_THROW(shortest.take(), std::runtime_error);
  AgentFrameReader unknown;
  unknown.feed(std::string("\5\0\0\0\xc8\0\0\0\0", 9));
  EXPECT_THROW(unknown.take(), std::runtime_error);
  EXPECT_THROW(encode({AgentKind::output, 0, std::string(most_agent_bytes + 1, 'x')}),
               std::runtime_error);
}

/// A frame with a flipped bit is read, incomplete or refused, and never takes more memory than a
/// frame.
TEST(AgentFrames, WithFlippedBitsAreReadOrRefused) {
  const std::string whole = encode({AgentKind::output, 1, "a line"}) + encode({});
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    AgentFrameReader reader;
    reader.feed(bytes);
    try {
      while (const std::optional<AgentFrame> frame = reader.take())
        EXPECT_LE(frame->body.size(), whole.size());
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
}

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LeashSilence, LastsFromTheLastMessage) {
  LeashSilence silence;
  auto now = LeashSilence::Clock::now();
  silence.end(now);
  for (int turn = 0; turn < 40; ++turn) silence.length(now += milliseconds(100));
  EXPECT_EQ(silence.length(now), seconds(4));
  silence.end(now);
  EXPECT_EQ(silence.length(now + milliseconds(100)), milliseconds(100));
}

/// Found by trying: a laptop with a lobby slept for 25 s, and its own agent gave the launcher up
/// that had slept with it.
TEST(LeashSilence, DoesNotCountASleep) {
  LeashSilence silence;
  auto now = LeashSilence::Clock::now();
  silence.end(now);
  silence.length(now += milliseconds(100));
  EXPECT_EQ(silence.length(now += std::chrono::hours(8)), milliseconds(1100));
}

/// A process whose turns all take long must notice the end of another machine all the same.
TEST(LeashSilence, GrowsWithSlowTurns) {
  LeashSilence silence;
  auto now = LeashSilence::Clock::now();
  silence.end(now);
  for (int turn = 0; turn < 20; ++turn) silence.length(now += seconds(3));
  EXPECT_EQ(silence.length(now), seconds(20));
}

}  // namespace
}  // namespace gv
