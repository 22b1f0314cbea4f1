#include "peer/launch/agent/agent_frame.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little endian");

constexpr std::size_t length_bytes = sizeof(std::uint32_t);
constexpr std::size_t head_bytes = 1 + sizeof(PeerId);  // kind and peer

template <typename T>
T get(const std::string& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename T>
void put(std::string& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

std::string agent_hello(std::string_view nonce) {
  return fmt::format("grapevine-agent 1 {}\n", nonce);
}

std::string encode(const AgentFrame& frame) {
  if (frame.body.size() > most_agent_bytes)
    throw std::runtime_error("a frame of more than a megabyte to an agent");
  std::string bytes;
  bytes.reserve(length_bytes + head_bytes + frame.body.size());
  put(bytes, static_cast<std::uint32_t>(head_bytes + frame.body.size()));
  put(bytes, static_cast<std::uint8_t>(frame.kind));
  put(bytes, frame.peer);
  return bytes + frame.body;
}

std::optional<AgentFrame> AgentFrameReader::take() {
  const std::size_t there = bytes_.size() - begin_;
  if (there < length_bytes) return {};
  const std::size_t length = get<std::uint32_t>(bytes_, begin_);
  if (length < head_bytes || length > head_bytes + most_agent_bytes)
    throw std::runtime_error(fmt::format("a frame of {} bytes", length));
  if (there < length_bytes + length) return {};
  const std::size_t at = begin_ + length_bytes;
  const auto kind = get<std::uint8_t>(bytes_, at);
  if (kind == 0 || kind > static_cast<std::uint8_t>(AgentKind::measured))
    throw std::runtime_error(fmt::format("a frame of the unknown kind {}", kind));
  AgentFrame frame{.kind = AgentKind{kind},
                   .peer = get<PeerId>(bytes_, at + 1),
                   .body = bytes_.substr(at + head_bytes, length - head_bytes)};
  begin_ = at + length;
  if (begin_ > most_agent_bytes || begin_ == bytes_.size()) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

}  // namespace gv
