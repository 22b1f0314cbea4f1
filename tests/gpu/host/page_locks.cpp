// Memory of the program that is page-locked, by range.
#include "tests/gpu/host/page_locks.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "tests/gpu/host/streams.h"

namespace gv::host_cuda {
namespace {

struct Locked {
  std::size_t bytes;
  bool only_read;
};
using Pieces = std::map<const char*, Locked>;  ///< by beginning
Pieces& pieces() {
  static Pieces& all = *new Pieces;  // destructors at the end of a program may need it
  return all;
}

/// Returns the piece that holds p; the end if there is none.
Pieces::const_iterator piece_at(const void* p) {
  const auto* const at = static_cast<const char*>(p);
  auto piece = pieces().upper_bound(at);
  if (piece == pieces().begin()) return pieces().end();
  --piece;
  return at < piece->first + piece->second.bytes ? piece : pieces().end();
}

bool meets_a_piece(const char* begin, std::size_t bytes) {
  const auto next = pieces().lower_bound(begin);
  return piece_at(begin) != pieces().end() ||
         (next != pieces().end() && next->first < begin + bytes);
}

/// Returns whether this process has mapped the whole range, for reading or also for writing.
bool is_mapped(const char* begin, std::size_t bytes, bool to_write) {
  std::ifstream maps("/proc/self/maps");
  auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t end = at + bytes;
  for (std::string line; at < end && std::getline(maps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, access) != 3 || to <= at) continue;
    if (from > at || access[0] != 'r' || (to_write && access[1] != 'w')) return false;
    at = to;
  }
  return at >= end;
}

}  // namespace

std::size_t room_in_page_locked(const void* p) {
  const auto piece = piece_at(p);
  if (piece == pieces().end()) return 0;
  return static_cast<std::size_t>(piece->first + piece->second.bytes - static_cast<const char*>(p));
}

bool locked_to_be_read(const void* p) {
  const auto piece = piece_at(p);
  return piece != pieces().end() && piece->second.only_read;
}

}  // namespace gv::host_cuda

using namespace gv::host_cuda;

/// Refuses memory that this process may only read, unless the flag allows it.
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned flags) {
  const Call call(calls());
  constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterReadOnly;
  const bool only_read = (flags & cudaHostRegisterReadOnly) != 0;
  auto* const begin = static_cast<char*>(p);
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  if (refusals().page_locks) return failed(cudaErrorNotSupported);
  if (bytes == 0 || (flags & ~known) != 0 || is_allocation(p) ||
      !is_mapped(begin, bytes, !only_read))
    return failed(cudaErrorInvalidValue);
  if (meets_a_piece(begin, bytes)) return failed(cudaErrorHostMemoryAlreadyRegistered);
  if (under_way({begin, bytes})) problem("memory is page-locked while it is copied");
  pieces()[begin] = {bytes, only_read};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* p) {
  const Call call(calls());
  auto* const begin = static_cast<char*>(p);
  const auto piece = pieces().find(begin);
  if (piece == pieces().end()) return failed(cudaErrorHostMemoryNotRegistered);
  const std::size_t bytes = piece->second.bytes;
  if (!is_mapped(begin, bytes, false)) problem("page-locked memory was unmapped");
  if (under_way({begin, bytes})) problem("memory is page-locked no more while it is copied");
  pieces().erase(piece);
  return cudaSuccess;
}
