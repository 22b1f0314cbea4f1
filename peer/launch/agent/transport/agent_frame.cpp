#include "peer/launch/agent/transport/agent_frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optim/error_text.h"
#include "optim/printable.h"
#include "peer/wire/socket/descriptor.h"

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

namespace fs = std::filesystem;
constexpr std::uint8_t first_piece = 1;
constexpr std::uint8_t last_piece = 2;

std::string piece_of(const std::string& name, std::uint8_t place, std::string_view bytes) {
  std::string body = name;
  body += '\0';
  body += static_cast<char>(place);
  return body.append(bytes);
}

void send_file(const fs::path& path,
               const std::string& name,
               const std::function<void(AgentFrame)>& send) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(agent_piece_bytes, '\0');
  for (std::uint8_t place = first_piece; (place & last_piece) == 0;) {
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    if (in.bad() || (!in && !in.eof()))
      throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
    if (count < bytes.size()) place |= last_piece;
    send({AgentKind::file, 0, piece_of(name, place, std::string_view(bytes).substr(0, count))});
    place &= static_cast<std::uint8_t>(~first_piece);
  }
}

/// Opens folder/name for writing, and makes the folders on the way; none may be a link.
Descriptor open_below(const std::string& folder, const fs::path& name, bool anew) {
  Descriptor at(::open(folder.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC));
  for (const fs::path& part : name.parent_path()) {
    ::mkdirat(at.get(), part.c_str(), 0700);
    at = Descriptor(
        ::openat(at.get(), part.c_str(), O_DIRECTORY | O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!at.open()) return at;
  }
  const int how = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (anew ? O_TRUNC : O_APPEND);
  return Descriptor(::openat(at.get(), name.filename().c_str(), how, 0600));
}

}  // namespace

std::string agent_hello(std::string_view nonce) {
  return fmt::format("grapevine-agent 1 {}\n", nonce);
}

std::string agent_refusal(std::string_view nonce, std::string_view why) {
  return fmt::format("grapevine-agent no {} {}\n", nonce, why);
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
  if (kind == 0 || kind > static_cast<std::uint8_t>(AgentKind::failed))
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

PipePair::PipePair(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {
  never_block(in_.get());
  never_block(out_.get());
}

/// At most a megabyte at a time, so that endless input blocks nothing else.
std::string PipePair::read() {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::string bytes;
  std::array<char, 65536> buffer;
  while (in_.open() && bytes.size() < most) {
    const ssize_t count = ::read(in_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) in_.close();
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return bytes;
}

void PipePair::write(std::string_view bytes) {
  if (!out_.open()) return;
  queue_ += bytes;
  flush();
}

void PipePair::flush() {
  while (out_.open() && waiting() > 0) {
    const ssize_t count = ::write(out_.get(), queue_.data() + sent_, waiting());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) out_.close();
    if (count > 0) sent_ += static_cast<std::size_t>(count);
  }
  if (out_.open() && sent_ < queue_.size() / 2) return;
  queue_.erase(0, out_.open() ? sent_ : queue_.size());
  sent_ = 0;
}

void PipePair::add_to(std::vector<pollfd>& fds) const {
  if (in_.open()) fds.push_back({in_.get(), POLLIN, 0});
  if (out_.open() && waiting() > 0) fds.push_back({out_.get(), POLLOUT, 0});
}

bool is_below(const std::string& name) {
  constexpr std::size_t longest = 1000;
  if (name.empty() || name.size() > longest || name.front() == '/') return false;
  if (name.find('\0') != std::string::npos) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

void send_files(const std::string& folder,
                const std::string& name,
                const std::function<void(AgentFrame)>& send) {
  const fs::path top = fs::path(folder) / name;
  if (fs::is_regular_file(fs::symlink_status(top))) return send_file(top, name, send);
  if (!fs::is_directory(fs::symlink_status(top))) return;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top))
    if (fs::is_regular_file(entry.symlink_status())) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) send_file(path, path.lexically_relative(folder), send);
}

void send_text(const std::string& name,
               const std::string& text,
               const std::function<void(AgentFrame)>& send) {
  std::size_t begin = 0;
  do {
    const std::string_view bytes = std::string_view(text).substr(begin, agent_piece_bytes);
    const std::uint8_t place = static_cast<std::uint8_t>(
        (begin == 0 ? first_piece : 0) | (begin + bytes.size() == text.size() ? last_piece : 0));
    send({AgentKind::file, 0, piece_of(name, place, bytes)});
    begin += bytes.size();
  } while (begin < text.size());
}

void FileTaker::take(const std::string& piece) {
  const std::size_t zero = piece.find('\0');
  if (zero == std::string::npos || zero + 2 > piece.size())
    throw std::runtime_error("a piece of a file without a name");
  const std::string name = piece.substr(0, zero);
  const std::string shown = printable(name, 100);
  if (!is_below(name) || !allowed_(name))
    throw std::runtime_error(fmt::format("a file `{}`, which is not expected", shown));
  const auto place = static_cast<std::uint8_t>(piece[zero + 1]);
  const std::string_view bytes = std::string_view(piece).substr(zero + 2);
  if (bytes.size() > left_)
    throw std::runtime_error(fmt::format("more bytes of files than are expected, at `{}`", shown));
  left_ -= bytes.size();
  const Descriptor file = open_below(folder_, name, (place & first_piece) != 0);
  std::size_t done = 0;
  while (file.open() && done < bytes.size()) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (!file.open() || done < bytes.size())
    throw DiskError(fmt::format("{}/{}: cannot be written: {}", folder_, shown, error_text(errno)));
}

}  // namespace gv
