#include <cstring>

#include <gtest/gtest.h>

#include "peer/wire/frame/frame.h"

namespace gv::wire {
namespace {

std::shared_ptr<Buffer> payload(std::size_t bytes) {
  auto buffer = std::make_shared<Buffer>(bytes);
  for (std::size_t k = 0; k < bytes; ++k) buffer->data()[k] = static_cast<std::byte>(k * 31);
  return buffer;
}

/// Returns the receiver's full verdict on one frame, empty if the frame is accepted.
std::string judge(std::span<const std::byte> stream, std::uint64_t max_payload, Frame& frame) {
  if (stream.size() < prefix_bytes) return "truncated";
  const auto raw = stream.first<prefix_bytes>();
  Prefix prefix;
  if (std::string verdict = decode_prefix(raw, max_payload, prefix); !verdict.empty())
    return verdict;
  const std::size_t head = prefix_bytes + prefix.header_bytes;
  const std::size_t begin = head + fill_after(head);
  if (stream.size() < begin) return "truncated";
  std::optional<Loan> loan;
  if (std::string verdict =
          decode_header(raw, stream.subspan(prefix_bytes, prefix.header_bytes), frame, loan);
      !verdict.empty())
    return verdict;
  if (!is_fill(stream.subspan(head, begin - head))) return "damaged fill";
  const auto body = stream.subspan(begin);
  if (body.size() != prefix.payload_bytes + fill_after(prefix.payload_bytes)) return "truncated";
  if (!is_fill(body.subspan(prefix.payload_bytes))) return "damaged fill";
  return hash_payload(body.first(prefix.payload_bytes)) == prefix.payload_hash ? ""
                                                                               : "damaged payload";
}

std::vector<std::byte> whole_frame(const Message& m) {
  const std::span<const std::byte> body =
      m.payload ? std::span(m.payload->data(), m.payload->size()) : std::span<const std::byte>{};
  std::vector<std::byte> frame = encode(NumberedMessage{m, 5, 4}, hash_payload(body));
  frame.insert(frame.end(), body.begin(), body.end());
  frame.resize(frame.size() + fill_after(body.size()));
  return frame;
}

TEST(Frame, RoundTrips) {
  for (const Kind kind : {Kind::contribution, Kind::reduce, Kind::gather, Kind::goodbye}) {
    const Message m{.from = 7,
                    .kind = kind,
                    .number = 123'456'789'012,
                    .part = 300,
                    .payload = kind == Kind::goodbye ? nullptr : payload(40),
                    .sent = Time{123'456'789'012'345}};
    Frame back;
    const auto frame = whole_frame(m);
    ASSERT_EQ(judge(frame, 40, back), "");
    const auto& numbered = std::get<NumberedMessage>(back);
    EXPECT_EQ(numbered.number, 5U);
    EXPECT_EQ(numbered.ack, 4U);
    EXPECT_EQ(numbered.message.from, 7U);
    EXPECT_EQ(numbered.message.kind, kind);
    EXPECT_EQ(numbered.message.number, 123'456'789'012U);
    EXPECT_EQ(numbered.message.part, 300U);
    EXPECT_EQ(numbered.message.sent, m.sent);
    EXPECT_EQ(frame.size(), frame_bytes(m));
  }
  const Hello hello{.fleet = "abc",
                    .model = "d\xff",  // no UTF-8: it travels as bytes
                    .peer = 3,
                    .incarnation = 99,
                    .peers = 8,
                    .neighbor_incarnation = 98,
                    .received = 17,
                    .clock = 5,
                    .machine = 77};
  Frame back;
  ASSERT_EQ(judge(encode(hello), 0, back), "");
  EXPECT_EQ(std::get<Hello>(back).incarnation, 99U);
  EXPECT_EQ(std::get<Hello>(back).model, "d\xff");
  EXPECT_EQ(std::get<Hello>(back).clock, 5U);
  EXPECT_EQ(std::get<Hello>(back).machine, 77U);
  ASSERT_EQ(judge(encode(Refusal{"another fleet"}), 0, back), "");
  EXPECT_EQ(std::get<Refusal>(back).reason, "another fleet");
}

TEST(Frame, AHeartbeatTellsOfTheArithmetic) {
  Frame back;
  ASSERT_EQ(judge(encode(Heartbeat{.ack = 9, .clock = 12, .jobs = 345, .working = true}), 40, back),
            "");
  const auto& heartbeat = std::get<Heartbeat>(back);
  EXPECT_EQ(heartbeat.ack, 9U);
  EXPECT_EQ(heartbeat.clock, 12U);
  EXPECT_EQ(heartbeat.jobs, 345U);
  EXPECT_TRUE(heartbeat.working);
}

TEST(Frame, EveryTruncationIsRefused) {
  const auto frame = whole_frame(
      {.from = 7, .kind = Kind::contribution, .number = 5, .part = 1, .payload = payload(24)});
  Frame back;
  for (std::size_t length = 0; length < frame.size(); ++length) {
    EXPECT_NE(judge(std::span(frame).first(length), 24, back), "") << length;
  }
}

TEST(Frame, EveryFlippedBitIsRefused) {
  for (const auto& frame :
       {whole_frame({.from = 7,
       .kind = Kind::contribution,
       .number = 5,
       .part = 1,
       .payload = payload(24)}),
        encode(Hello{"abc", "def", 3, 99, 8, 0, 0, 0}), encode(Refusal{"why"})}) {
    for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
      std::vector<std::byte> damaged = frame;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      Frame back;
      EXPECT_NE(judge(damaged, 1000, back), "") << "bit " << bit;
    }
  }
}

TEST(Frame, LengthsAreCheckedBeforeAnythingIsAllocated) {
  auto frame = whole_frame(
      {.from = 7, .kind = Kind::contribution, .number = 5, .part = 1, .payload = payload(24)});
  Prefix prefix;
  EXPECT_NE(decode_prefix(std::span(frame).first<prefix_bytes>(), 23, prefix), "");
  const std::uint64_t huge = ~std::uint64_t{0};
  std::memcpy(frame.data() + 8, &huge, 8);
  EXPECT_NE(decode_prefix(std::span(frame).first<prefix_bytes>(), 1U << 30, prefix), "");
}

TEST(Frame, BytesAreCountedAsTheyAreSent) {
  for (const Round step : {0ULL, 1ULL, 127ULL, 128ULL, 1ULL << 40}) {
    for (const PeerId from : {0U, 1U, 200U, 70'000U}) {
      const Message m{
          .from = from, .kind = Kind::reduce, .number = step, .part = from, .payload = payload(8)};
      EXPECT_EQ(whole_frame(m).size(), frame_bytes(m));
      EXPECT_EQ(frame_bytes(m) % frame_unit, 0U) << "the next frame begins where it should";
    }
  }
}

}  // namespace
}  // namespace gv::wire
