#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optim/buffer.h"
#include "peer/wire/frame/frame.h"

namespace gv::wire {

/// The bounds of what frames of one connection may hold, set by the fleet and not the sender.
struct FrameBounds {
  bool messages = false;            ///< false: the other side has not said who it is
  std::uint32_t kinds = 0;          ///< bit k: messages of kind k, with a payload or without
  std::uint64_t payload_bytes = 0;  ///< of one message, at most
};

/// Makes frames of a stream of bytes, whatever pieces it comes in. No socket: it says where the
/// next bytes are to go, so that a large payload goes straight into a pooled buffer and small
/// frames cost one read. Invariant: no length is believed, and nothing is allocated, before prefix
/// and header have proved whole and within the bounds.
///
///   prefix --32 bytes, fine--> header --its bytes, fine--> payload --its bytes, fine--> prefix
class FrameReader {
 public:
  enum class State : std::uint8_t { prefix, header, payload };
  struct Space {
    std::span<std::byte> first, then;
  };

  explicit FrameReader(BufferPool& pool) : pool_(pool) {}
  virtual ~FrameReader() = default;

  void set_bounds(const FrameBounds& bounds) { bounds_ = bounds; }
  /// Finds where a payload lies that is lent and not sent; none: nothing may be lent.
  using Borrow =
      std::function<Verdict(const Loan& loan, std::uint64_t most_bytes, Payload& payload)>;
  void set_borrow(Borrow borrow) { borrow_ = std::move(borrow); }
  /// Returns where the next bytes of the stream go: `first`, and what is more into `then`.
  Space space();
  /// Tells the reader how many bytes were put into space().
  void filled(std::size_t bytes);
  /// Gives the next frame that is whole. Returns an error when the stream holds none, and none can
  /// follow; nothing in `out` and no error: more bytes are needed.
  Verdict next(std::optional<Frame>& out);
  /// Returns whether the stream may end here: it stands between two frames.
  bool between_frames() const { return state_ == State::prefix && begin_ == end_; }

 protected:
  /// Returns whether the payload is the one that was sent.
  virtual bool intact(std::span<const std::byte> payload, std::uint64_t hash) const;

 private:
  std::size_t staged() const { return end_ - begin_; }
  bool payload_is_coming() const { return payload_ && payload_filled_ < payload_->size(); }
  Verdict read_prefix();
  Verdict read_header();
  Verdict judge_message(const Message& message, bool loaded) const;
  Verdict borrow(const Loan& loan, Message& message) const;

  BufferPool& pool_;
  FrameBounds bounds_;
  Borrow borrow_;
  State state_ = State::prefix;
  std::array<std::byte, 8192> staging_;  ///< bytes of the stream that no frame has claimed yet
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Prefix prefix_;
  Frame frame_;  ///< whose payload is on its way
  std::shared_ptr<Buffer> payload_;
  std::size_t payload_filled_ = 0;
};

}  // namespace gv::wire
