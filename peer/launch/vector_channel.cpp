#include "peer/launch/vector_channel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optim/error_text.h"
#include "peer/wire/lend/descriptor.h"

namespace gv {
namespace {

constexpr std::size_t most_pieces = 128;  // so many wait in a socket until they are read

/// Null when there is no memory for it, as errno says.
Descriptor memory_file(std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create("vector", MFD_CLOEXEC));
  for (std::size_t done = 0; file.open() && done < bytes.size();) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file.close();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return file;
}

std::size_t largest_file() {
  rlimit limit{};
  const bool none = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
  return none ? std::numeric_limits<std::size_t>::max() : std::max<std::size_t>(limit.rlim_cur, 1);
}

std::size_t size_of(const Descriptor& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

bool read_file(const Descriptor& file, std::span<std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

void send_vector(int socket, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  const std::size_t piece = std::min(largest_file(), std::max<std::size_t>(bytes.size(), 1));
  const std::size_t pieces = std::max<std::size_t>((bytes.size() + piece - 1) / piece, 1);
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::size_t begin = k * piece;
    const Descriptor file =
        pieces > most_pieces
            ? Descriptor()
            : memory_file(bytes.subspan(begin, std::min(piece, bytes.size() - begin)));
    const std::string reason = error_text(pieces > most_pieces ? EFBIG : errno);
    if (!file.open())
      throw std::runtime_error(
          fmt::format("no memory to report {} MB: {}", bytes.size() / 1'000'000, reason));
    const auto follow = static_cast<std::byte>(pieces - 1 - k);
    send_with_descriptor(socket, {&follow, 1}, file.get(), 0);
  }
}

Payload receive_vector(int socket, std::size_t most_bytes) {
  std::vector<Descriptor> files;
  std::size_t size = 0;
  for (std::byte follow{1}; follow != std::byte{0};) {
    files.emplace_back();
    if (files.size() > most_pieces ||
        receive_with_descriptor(socket, {&follow, 1}, files.back()) <= 0 || !files.back().open())
      return nullptr;
    const std::size_t more = size_of(files.back());
    if (more > most_bytes - size) return nullptr;
    size += more;
  }
  auto buffer = std::make_shared<Buffer>(size);
  std::size_t done = 0;
  for (const Descriptor& file : files) {
    const std::span<std::byte> part(buffer->data() + done, std::min(size_of(file), size - done));
    if (!read_file(file, part)) return nullptr;
    done += part.size();
  }
  return buffer;
}

}  // namespace gv
