#include "peer/wire/frame/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace gv::wire {

FrameReader::Space FrameReader::space() {
  if (payload_is_coming())
    return {{payload_->data() + payload_filled_, payload_->size() - payload_filled_}, staging_};
  // What is staged is less than a prefix and a header: moving it costs nothing.
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
