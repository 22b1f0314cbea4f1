#include "peer/launch/vector_channel.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/shared/descriptor.h"

namespace gv {
namespace {

Descriptor memory_file(std::span<const float> values) {
  Descriptor file(::memfd_create("vector", MFD_CLOEXEC));
  const auto bytes = std::as_bytes(values);
  for (std::size_t done = 0; file.open() && done < bytes.size();) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file.close();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (file.open()) return file;
  throw std::runtime_error(
      fmt::format("no memory to report {} MB: {}", bytes.size() / 1'000'000, std::strerror(errno)));
}

}  // namespace

void send_vector(int socket, std::span<const float> values) {
  const Descriptor file = memory_file(values);
  constexpr std::byte message{0};
  send_with_descriptor(socket, {&message, 1}, file.get(), 0);
}

Payload receive_vector(int socket) {
  std::byte message{};
  Descriptor file;
  if (receive_with_descriptor(socket, {&message, 1}, file) <= 0 || !file.open()) return nullptr;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return nullptr;
  auto buffer = std::make_shared<Buffer>(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < buffer->size();) {
    const ssize_t count =
        ::pread(file.get(), buffer->data() + done, buffer->size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return nullptr;
    done += static_cast<std::size_t>(count);
  }
  return buffer;
}

}  // namespace gv
