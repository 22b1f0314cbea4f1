#include "peer/tcp/tcp_frames.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

namespace gv {
namespace {

constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

std::string text(const asio::error_code& error) {
  return error == asio::error::eof ? end_of_stream : error.message();
}

}  // namespace

asio::awaitable<std::string> TcpFrames::fill(std::size_t bytes) {
  if (staged() >= bytes) co_return "";
  std::memmove(staging_.data(), staging_.data() + begin_, staged());
  end_ = staged();
  begin_ = 0;
  while (staged() < bytes) {
    const auto free = asio::buffer(staging_.data() + end_, staging_.size() - end_);
    const auto [error, count] = co_await socket.async_read_some(free, as_result);
    if (error) {
      const bool clean = staged() == 0;
      co_return error == asio::error::eof && !clean ? "the stream ends inside a frame"
                                                    : text(error);
    }
    end_ += count;
  }
  co_return "";
}

asio::awaitable<std::string> TcpFrames::read_payload(Buffer& payload) {
  std::size_t got = std::min(staged(), payload.size());
  std::memcpy(payload.data(), staging_.data() + begin_, got);
  begin_ += got;
  if (got < payload.size()) begin_ = end_ = 0;
  while (got < payload.size()) {
    const std::size_t wanted = std::min(payload.size() - got, socket_piece);
    // What follows the payload comes with the same call.
    const bool last = got + wanted == payload.size();
    const std::array<asio::mutable_buffer, 2> into{
        asio::buffer(payload.data() + got, wanted),
        asio::buffer(staging_.data(), last ? staging_.size() : 0)};
    const auto [error, count] = co_await socket.async_read_some(into, as_result);
    if (error) co_return error == asio::error::eof ? "the stream ends inside a frame" : text(error);
    got += std::min(count, wanted);
    end_ = count - std::min(count, wanted);
  }
  co_return "";
}

asio::awaitable<Incoming> TcpFrames::read(std::uint64_t max_payload_bytes, BufferPool& pool) {
  Incoming in;
  in.error = co_await fill(wire::prefix_bytes);
  if (in.ended()) co_return in;
  wire::Prefix prefix;
  const auto prefix_at = [this] {
    return std::span<const std::byte, wire::prefix_bytes>(staging_.data() + begin_,
                                                          wire::prefix_bytes);
  };
  in.error = wire::decode_prefix(prefix_at(), max_payload_bytes, prefix);
  if (in.ended()) co_return in;
  in.error = co_await fill(wire::prefix_bytes + prefix.header_bytes);
  if (in.ended()) co_return in;
  const std::span<const std::byte> header(staging_.data() + begin_ + wire::prefix_bytes,
                                          prefix.header_bytes);
  in.error = wire::decode_header(prefix_at(), header, in.header);
  if (in.ended()) co_return in;
  begin_ += wire::prefix_bytes + prefix.header_bytes;
  if (prefix.payload_bytes == 0) co_return in;
  const std::shared_ptr<Buffer> payload = pool.acquire(prefix.payload_bytes);
  in.error = co_await read_payload(*payload);
  if (in.ended()) co_return in;
  if (wire::hash_payload({payload->data(), payload->size()}) != prefix.payload_hash)
    in.error = "damaged payload";
  in.header.message.payload = payload;
  co_return in;
}

asio::awaitable<std::string> TcpFrames::write(const std::vector<std::byte>& bytes) {
  const auto [error, count] =
      co_await asio::async_write(socket, asio::buffer(bytes.data(), bytes.size()), as_result);
  co_return error ? text(error) : "";
}

}  // namespace gv
