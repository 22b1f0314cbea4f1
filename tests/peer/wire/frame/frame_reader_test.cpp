#include <cstring>

#include <gtest/gtest.h>

#include "peer/wire/frame/frame.h"

namespace gv::wire {
namespace {

constexpr std::uint32_t every_kind = ~0U;

/// A reader and its output.
struct Reading {
  explicit Reading(const FrameBounds& bounds) { reader.set_bounds(bounds); }

  /// Feeds the bytes in pieces of at most `piece`.
  void feed(std::span<const std::byte> bytes, std::size_t piece) {
    while (!bytes.empty() && wrong.empty()) {
      const FrameReader::Space space = reader.space();
      const std::size_t first = std::min({piece, bytes.size(), space.first.size()});
      const std::size_t then = std::min({piece - first, bytes.size() - first, space.then.size()});
      std::memcpy(space.first.data(), bytes.data(), first);
      if (then > 0) std::memcpy(space.then.data(), bytes.data() + first, then);
      reader.filled(first + then);
      bytes = bytes.subspan(first + then);
      take();
    }
  }
  void take() {
    for (std::optional<Frame> frame;;) {
      wrong = reader.next(frame);
      if (!wrong.empty() || !frame) return;
      frames.push_back(std::move(*frame));
    }
  }

  BufferPool pool;
  FrameReader reader{pool};
  std::vector<Frame> frames;
  Verdict wrong;
};

std::vector<std::byte> message_bytes(Kind kind, std::size_t payload_bytes) {
  Message m{.from = 1, .kind = kind, .number = 7, .part = 0, .payload = {}};
  std::vector<std::byte> body(payload_bytes);
  for (std::size_t k = 0; k < body.size(); ++k) body[k] = static_cast<std::byte>(k * 7);
  const auto buffer = std::make_shared<Buffer>(payload_bytes);
  if (!body.empty()) std::memcpy(buffer->data(), body.data(), body.size());
  if (payload_bytes > 0) m.payload = buffer;
  std::vector<std::byte> bytes = encode(NumberedMessage{m, 1, 0}, hash_payload(body));
  bytes.insert(bytes.end(), body.begin(), body.end());
  bytes.resize(bytes.size() + fill_after(body.size()));
  return bytes;
}

void append(std::vector<std::byte>& all, const std::vector<std::byte>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

TEST(FrameReader, MakesTheSameFramesWhateverPiecesTheyComeIn) {
  std::vector<std::byte> stream = encode(Hello{"abc", "def", 3, 99, 8, 0, 0, 0});
  append(stream, message_bytes(Kind::contribution, 40'000));
  append(stream, encode(Heartbeat{.ack = 3, .clock = 4, .jobs = 0, .working = false}));
  append(stream, message_bytes(Kind::goodbye, 0));
  append(stream, message_bytes(Kind::contribution, 8));
  for (const std::size_t piece : {1UL, 2UL, 7UL, 31UL, 32UL, 33UL, 100UL, 8192UL, 100'000UL}) {
    Reading reading({true, every_kind, 40'000});
    reading.feed(stream, piece);
    ASSERT_EQ(reading.wrong, "") << piece;
    ASSERT_EQ(reading.frames.size(), 5U) << piece;
    EXPECT_EQ(std::get<Hello>(reading.frames[0]).model, "def");
    const Payload& payload = std::get<NumberedMessage>(reading.frames[1]).message.payload;
    ASSERT_EQ(payload->size(), 40'000U);
    for (std::size_t k = 0; k < payload->size(); ++k)
      ASSERT_EQ(payload->data()[k], static_cast<std::byte>(k * 7));
    EXPECT_EQ(std::get<Heartbeat>(reading.frames[2]).ack, 3U);
    EXPECT_TRUE(reading.reader.between_frames());
  }
}

TEST(FrameReader, KnowsWhetherTheStreamEndsInsideAFrame) {
  const std::vector<std::byte> bytes = message_bytes(Kind::contribution, 8);
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    Reading reading({true, every_kind, 8});
    reading.feed(std::span(bytes).first(length), 100);
    EXPECT_EQ(reading.wrong, "");
    EXPECT_FALSE(reading.reader.between_frames()) << length;
  }
}

TEST(FrameReader, AStrangerMayOnlySayHello) {
  Reading reading({});
  reading.feed(message_bytes(Kind::goodbye, 0), 100);
  EXPECT_EQ(reading.wrong, "the first frame is no Hello");
  Reading loaded({});
  loaded.feed(message_bytes(Kind::contribution, 4), 100);
  EXPECT_EQ(loaded.wrong, "a payload of 4 bytes, at most 0");
}

TEST(FrameReader, APayloadIsAtMostAPiece) {
  Reading reading({true, every_kind, 400});
  reading.feed(message_bytes(Kind::contribution, 404), 1000);
  EXPECT_EQ(reading.wrong, "a payload of 404 bytes, at most 400");
}

TEST(FrameReader, KindsThatTheFleetDoesNotSendAreRefused) {
  const std::uint32_t model_only = 1U << static_cast<unsigned>(Kind::contribution);
  Reading reading({true, model_only, 400});
  reading.feed(message_bytes(Kind::contribution, 40), 1000);
  EXPECT_EQ(reading.wrong, "");
  reading.feed(message_bytes(Kind::reduce, 40), 1000);
  EXPECT_EQ(reading.wrong, "a message of kind 16, which this fleet does not send");
  Reading another({true, model_only, 400});
  another.feed(message_bytes(static_cast<Kind>(32 + static_cast<unsigned>(Kind::contribution)), 40),
               1000);
  EXPECT_EQ(another.wrong, "a message of kind 33, which this fleet does not send");
}

/// Adds a payload of `payload_bytes` to `bytes`, with valid checks as a sender would make.
std::vector<std::byte> laden(std::vector<std::byte> bytes, std::size_t payload_bytes) {
  const std::vector<std::byte> like = message_bytes(Kind::contribution, payload_bytes);
  std::memcpy(bytes.data() + 8, like.data() + 8, 16);  // payload_bytes and payload_hash
  const auto check = static_cast<std::uint32_t>(hash_payload(std::span(bytes).first(28)));
  std::memcpy(bytes.data() + 28, &check, sizeof check);
  const std::size_t filled = payload_bytes + fill_after(payload_bytes);
  bytes.insert(bytes.end(), like.end() - static_cast<std::ptrdiff_t>(filled), like.end());
  return bytes;
}

TEST(FrameReader, OnlyMessagesThatHaveOneCarryAPayload) {
  for (const std::vector<std::byte>& bare :
       {encode(Heartbeat{}), encode(Refusal{"no"}), message_bytes(Kind::fetch, 0),
        message_bytes(Kind::goodbye, 0)}) {
    Reading reading({true, every_kind, 1'000});
    reading.feed(laden(bare, 400), 10'000);
    EXPECT_NE(reading.wrong.find("a payload on a"), std::string::npos) << reading.wrong;
    EXPECT_TRUE(reading.frames.empty());
  }
  Reading fine({true, every_kind, 1'000});
  fine.feed(laden(message_bytes(Kind::contribution, 0), 400), 10'000);
  EXPECT_EQ(fine.wrong, "");
}

TEST(FrameReader, ADamagedPayloadIsNotBelieved) {
  std::vector<std::byte> bytes = message_bytes(Kind::contribution, 400);
  bytes[bytes.size() - fill_after(400) - 1] ^= std::byte{1};
  Reading reading({true, every_kind, 400});
  reading.feed(bytes, 1000);
  EXPECT_EQ(reading.wrong, "damaged payload");
}

TEST(FrameReader, FillIsZero) {
  std::vector<std::byte> after = message_bytes(Kind::contribution, 400);
  ASSERT_GT(fill_after(400), 0U);
  after.back() ^= std::byte{1};
  std::vector<std::byte> before = after;
  before.back() = std::byte{0};
  const std::size_t body = 400 + fill_after(400);
  before[before.size() - body - 1] ^= std::byte{1};
  for (const auto& bytes : {after, before}) {
    Reading reading({true, every_kind, 400});
    reading.feed(bytes, 1000);
    EXPECT_EQ(reading.wrong, "damaged fill");
  }
}

/// Frames of all sizes end there, so that payloads are aligned as in memory.
TEST(FrameReader, EveryFrameEndsAtAMultipleOfTheUnit) {
  for (std::size_t bytes = 0; bytes < 130; ++bytes)
    EXPECT_EQ(message_bytes(Kind::contribution, bytes).size() % frame_unit, 0U) << bytes;
  EXPECT_EQ(encode(Hello{"abc", "def", 3, 99, 8, 0, 0, 0}).size() % frame_unit, 0U);
}

}  // namespace
}  // namespace gv::wire
