#include "peer/wire/frame/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/check.h"
#include "wire/wire.pb.h"  // generated

static_assert(std::endian::native == std::endian::little,
              "payloads travel as the little-endian floats of memory");

namespace gv::wire {
namespace {

constexpr std::size_t checked_prefix_bytes = 28;

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Returns whether the bytes begin a TLS handshake or alert: RFC 8446, section 5.1.
bool is_tls(const std::byte* bytes) {
  constexpr std::byte alert{0x15}, handshake{0x16}, major_version{0x03};
  return (bytes[0] == alert || bytes[0] == handshake) && bytes[1] == major_version;
}

/// Returns the low half of XXH3-64.
std::uint32_t check_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

std::vector<std::byte> encode(const proto::Header& header,
                              std::uint64_t payload_bytes,
                              std::uint64_t payload_hash) {
  const std::size_t header_bytes = header.ByteSizeLong();
  GV_CHECK(header_bytes <= max_header_bytes, "a header within its limit");
  const std::size_t head_bytes = prefix_bytes + header_bytes;
  std::vector<std::byte> frame(head_bytes + fill_after(head_bytes));
  put(frame.data(), magic);
  put(frame.data() + 4, version);
  put(frame.data() + 6, static_cast<std::uint16_t>(header_bytes));
  put(frame.data() + 8, payload_bytes);
  put(frame.data() + 16, payload_hash);
  header.SerializeToArray(frame.data() + prefix_bytes, static_cast<int>(header_bytes));
  put(frame.data() + 24, check_of(std::span(frame).subspan(prefix_bytes, header_bytes)));
  put(frame.data() + 28, check_of(std::span(frame).first(checked_prefix_bytes)));
  return frame;
}

proto::Header header_of(const Hello& h) {
  proto::Header header;
  proto::Hello& hello = *header.mutable_hello();
  hello.set_fleet(h.fleet);
  hello.set_model(h.model);
  hello.set_peer(h.peer);
  hello.set_incarnation(h.incarnation);
  hello.set_peers(h.peers);
  hello.set_neighbor_incarnation(h.neighbor_incarnation);
  hello.set_received(h.received);
  hello.set_clock(h.clock);
  hello.set_door(h.door);
  hello.set_machine(h.machine);
  hello.set_channel(h.channel);
  return header;
}

proto::Header header_of(const Refusal& r) {
  proto::Header header;
  header.mutable_refusal()->set_reason(r.reason.substr(0, max_header_bytes / 2));
  return header;
}

proto::Header header_of(const Heartbeat& h) {
  proto::Header header;
  proto::Heartbeat& heartbeat = *header.mutable_heartbeat();
  heartbeat.set_ack(h.ack);
  heartbeat.set_clock(h.clock);
  heartbeat.set_jobs(h.jobs);
  heartbeat.set_working(h.working);
  return header;
}

proto::Header header_of(const NumberedMessage& numbered) {
  const Message& m = numbered.message;
  proto::Header header;
  proto::Message& message = *header.mutable_message();
  message.set_kind(static_cast<std::uint32_t>(m.kind));
  message.set_from(m.from);
  message.set_exchange(m.number);
  message.set_part(m.part);
  message.set_number(numbered.number);
  message.set_ack(numbered.ack);
  message.set_round(m.round);
  message.set_degree(m.degree);
  message.set_sent(static_cast<std::uint64_t>(m.sent.count()));
  message.set_bound(m.bound);
  return header;
}

Hello read(const proto::Hello& h) {
  return {.fleet = h.fleet(),
          .model = h.model(),
          .peer = h.peer(),
          .incarnation = h.incarnation(),
          .peers = h.peers(),
          .neighbor_incarnation = h.neighbor_incarnation(),
          .received = h.received(),
          .clock = h.clock(),
          .door = h.door(),
          .machine = h.machine(),
          .channel = h.channel()};
}

Heartbeat read(const proto::Heartbeat& h) {
  return {.ack = h.ack(), .clock = h.clock(), .jobs = h.jobs(), .working = h.working()};
}

NumberedMessage read(const proto::Message& m) {
  return {.message = {.from = m.from(),
                      .kind = static_cast<Kind>(m.kind()),
                      .number = m.exchange(),
                      .part = m.part(),
                      .payload = {},
                      .round = m.round(),
                      .degree = m.degree(),
                      .bound = m.bound(),
                      .sent = Time{static_cast<std::int64_t>(m.sent())}},
          .number = m.number(),
          .ack = m.ack()};
}

Loan read(const proto::Loan& l) {
  return {
      .block = l.block(), .offset = l.offset(), .bytes = l.bytes(), .generation = l.generation()};
}

std::uint64_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::uint64_t>(std::bit_width(value | 1)) + 6) / 7;
}
/// Returns the size of a field; a zero field is not written.
std::uint64_t field_bytes(std::uint64_t value) {
  return value == 0 ? 0 : 1 + varint_bytes(value);
}

bool known(std::uint32_t kind) {
  if (kind > 0xFF) return false;
  switch (const Kind k{static_cast<std::uint8_t>(kind)}) {
    case Kind::contribution:
    case Kind::goodbye:
    case Kind::fetch:
    case Kind::model_copy:
    case Kind::held_up:
    case Kind::beyond:
    case Kind::verb:
      return true;
    default:
      return is_channel(k);
  }
}

}  // namespace

std::uint64_t hash_payload(std::span<const std::byte> payload) {
  return XXH3_64bits(payload.data(), payload.size());
}

std::vector<std::byte> encode(const Frame& frame, std::uint64_t payload_hash) {
  const auto* numbered = std::get_if<NumberedMessage>(&frame);
  const bool loaded = numbered != nullptr && numbered->message.payload;
  return encode(std::visit([](const auto& content) { return header_of(content); }, frame),
                loaded ? numbered->message.payload->size() : 0, payload_hash);
}

std::vector<std::byte> encode(const Frame& frame) {
  return encode(frame, hash_payload({}));
}

std::vector<std::byte> encode(const NumberedMessage& message, const Loan& loan) {
  proto::Header header = header_of(message);
  proto::Loan& lent = *header.mutable_message()->mutable_loan();
  lent.set_block(loan.block);
  lent.set_offset(loan.offset);
  lent.set_bytes(loan.bytes);
  lent.set_generation(loan.generation);
  return encode(header, 0, hash_payload({}));
}

Verdict decode_prefix(std::span<const std::byte, prefix_bytes> bytes,
                      std::uint64_t max_payload_bytes,
                      Prefix& out) {
  if (get<std::uint32_t>(bytes.data()) != magic)
    return is_tls(bytes.data()) ? "it speaks TLS, and this end does not (`security` there and here)"
                                : "not a frame of Grapevine";
  if (const auto theirs = get<std::uint16_t>(bytes.data() + 4); theirs != version) {
    return fmt::format("protocol version {}, ours is {}", theirs, version);
  }
  out.header_bytes = get<std::uint16_t>(bytes.data() + 6);
  out.payload_bytes = get<std::uint64_t>(bytes.data() + 8);
  out.payload_hash = get<std::uint64_t>(bytes.data() + 16);
  if (check_of(bytes.first(checked_prefix_bytes)) != get<std::uint32_t>(bytes.data() + 28))
    return "damaged prefix";
  if (out.header_bytes > max_header_bytes)
    return fmt::format("a header of {} bytes, at most {}", out.header_bytes, max_header_bytes);
  if (out.payload_bytes > max_payload_bytes)
    return fmt::format("a payload of {} bytes, at most {}", out.payload_bytes, max_payload_bytes);
  return "";
}

Verdict decode_header(std::span<const std::byte, prefix_bytes> prefix,
                      std::span<const std::byte> header,
                      Frame& out,
                      std::optional<Loan>& loan) {
  loan.reset();
  if (header.size() > max_header_bytes) return "a header beyond its limit";
  if (check_of(header) != get<std::uint32_t>(prefix.data() + 24)) return "damaged header";
  proto::Header parsed;
  if (!parsed.ParseFromArray(header.data(), static_cast<int>(header.size())))
    return "unreadable header";
  switch (parsed.kind_case()) {
    case proto::Header::kHello:
      out = read(parsed.hello());
      return "";
    case proto::Header::kRefusal:
      out = Refusal{parsed.refusal().reason()};
      return "";
    case proto::Header::kMessage:
      if (!known(parsed.message().kind()))
        return fmt::format("unknown message kind {}", parsed.message().kind());
      out = read(parsed.message());
      if (parsed.message().has_loan()) loan = read(parsed.message().loan());
      return "";
    case proto::Header::kHeartbeat:
      out = read(parsed.heartbeat());
      return "";
    case proto::Header::KIND_NOT_SET:
      break;
  }
  return "a header without content";
}

std::string protobuf_version() {
  return fmt::format("{}.{}.{}", GOOGLE_PROTOBUF_VERSION / 1000000,
                     GOOGLE_PROTOBUF_VERSION / 1000 % 1000, GOOGLE_PROTOBUF_VERSION % 1000);
}

bool is_fill(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

std::uint64_t frame_bytes(const Message& m) {
  return frame_bytes(m, m.payload ? m.payload->size() : 0);
}

std::uint64_t frame_bytes(const Message& m, std::uint64_t payload_bytes) {
  constexpr std::uint64_t numbers = 3 * (1 + sizeof(std::uint64_t));  // number, ack, sent
  const std::uint64_t message = numbers + field_bytes(static_cast<std::uint64_t>(m.kind)) +
                                field_bytes(m.from) + field_bytes(m.number) + field_bytes(m.part) +
                                field_bytes(m.round) + field_bytes(m.degree) +
                                (m.bound == 0 ? 0 : 1 + sizeof(float));
  const std::uint64_t head = prefix_bytes + 1 + varint_bytes(message) + message;
  return head + fill_after(head) + payload_bytes + fill_after(payload_bytes);
}

FrameReader::Space FrameReader::space() {
  if (payload_is_coming())
    return {{payload_->data() + payload_filled_, payload_->size() - payload_filled_}, staging_};
  // At most a prefix and a header are staged, so moving them is cheap.
  std::memmove(staging_.data(), staging_.data() + begin_, staged());
  end_ = staged();
  begin_ = 0;
  return {std::span(staging_).subspan(end_), {}};
}

void FrameReader::filled(std::size_t bytes) {
  if (!payload_is_coming()) {
    end_ += bytes;
    return;
  }
  const std::size_t taken = std::min(bytes, payload_->size() - payload_filled_);
  payload_filled_ += taken;
  begin_ = 0;
  end_ = bytes - taken;
}

Verdict FrameReader::next(std::optional<Frame>& out) {
  out.reset();
  if (state_ == State::prefix) {
    if (staged() < prefix_bytes) return "";
    if (Verdict wrong = read_prefix(); !wrong.empty()) return wrong;
  }
  if (state_ == State::header) {
    const std::size_t head = prefix_bytes + prefix_.header_bytes;
    if (staged() < head + fill_after(head)) return "";
    if (Verdict wrong = read_header(); !wrong.empty()) return wrong;
  }
  if (payload_) {
    const std::size_t fill = fill_after(payload_->size());
    if (payload_filled_ < payload_->size() || staged() < fill) return "";
    if (!is_fill({staging_.data() + begin_, fill})) return "damaged fill";
    begin_ += fill;
    if (!intact({payload_->data(), payload_->size()}, prefix_.payload_hash))
      return "damaged payload";
    std::get<NumberedMessage>(frame_).message.payload = std::exchange(payload_, nullptr);
  }
  state_ = State::prefix;
  out = std::move(frame_);
  return "";
}

Verdict FrameReader::read_prefix() {
  const std::span<const std::byte, prefix_bytes> raw(staging_.data() + begin_, prefix_bytes);
  Verdict wrong = decode_prefix(raw, bounds_.payload_bytes, prefix_);
  if (wrong.empty()) state_ = State::header;
  return wrong;
}

Verdict FrameReader::read_header() {
  const std::byte* at = staging_.data() + begin_;
  const std::span<const std::byte, prefix_bytes> raw(at, prefix_bytes);
  std::optional<Loan> loan;
  Verdict wrong = decode_header(raw, {at + prefix_bytes, prefix_.header_bytes}, frame_, loan);
  auto* numbered = std::get_if<NumberedMessage>(&frame_);
  if (wrong.empty() && numbered != nullptr)
    wrong = judge_message(numbered->message, loan || prefix_.payload_bytes > 0);
  if (wrong.empty() && loan) wrong = borrow(*loan, numbered->message);
  if (wrong.empty() && numbered == nullptr && prefix_.payload_bytes > 0)
    wrong = "a payload on a frame that is no message";
  const std::size_t head = prefix_bytes + prefix_.header_bytes;
  if (wrong.empty() && !is_fill({at + head, fill_after(head)})) wrong = "damaged fill";
  if (!wrong.empty()) return wrong;
  begin_ += head + fill_after(head);
  state_ = State::payload;
  if (prefix_.payload_bytes == 0) return "";
  payload_ = pool_.acquire(prefix_.payload_bytes);
  payload_filled_ = std::min(staged(), payload_->size());
  std::memcpy(payload_->data(), staging_.data() + begin_, payload_filled_);
  begin_ += payload_filled_;
  return "";
}

Verdict FrameReader::borrow(const Loan& loan, Message& message) const {
  if (!borrow_) return "a loan over a connection without shared memory";
  if (prefix_.payload_bytes > 0) return "a loan and a payload in one message";
  return borrow_(loan, bounds_.payload_bytes, message.payload);
}

Verdict FrameReader::judge_message(const Message& message, bool loaded) const {
  if (!bounds_.messages) return "the first frame is no Hello";
  const auto kind = static_cast<std::uint32_t>(message.kind);
  if (kind >= 32 || (bounds_.kinds >> kind & 1) == 0)
    return fmt::format("a message of kind {}, which this fleet does not send", kind);
  const bool bare = message.kind == Kind::goodbye || message.kind == Kind::fetch ||
                    message.kind == Kind::held_up || message.kind == Kind::beyond;
  if (bare && loaded) return fmt::format("a payload on a message of kind {}", kind);
  return "";
}

bool FrameReader::intact(std::span<const std::byte> payload, std::uint64_t hash) const {
  return hash_payload(payload) == hash;
}

}  // namespace gv::wire
