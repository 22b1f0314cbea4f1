#include "optim/state.h"

#include <bit>
#include <cstring>
#include <stdexcept>

static_assert(std::endian::native == std::endian::little,
              "a state holds the little-endian values of memory");

namespace gv {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error("training state: " + why);
}

}  // namespace

void StateWriter::u64(std::uint64_t value) {
  append(std::as_bytes(std::span(&value, 1)));
}

void StateWriter::real(double value) {
  append(std::as_bytes(std::span(&value, 1)));
}

void StateWriter::append(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void StateReader::name(std::string_view expected) {
  const std::string found = text();
  if (found != expected)
    refuse("expected `" + std::string(expected) + "`, found `" + found.substr(0, 32) + "`");
}

std::string StateReader::text() {
  const std::uint64_t length = u64();
  if (length > left_.size()) refuse("truncated");
  std::string found(reinterpret_cast<const char*>(left_.data()), length);
  left_ = left_.subspan(length);
  return found;
}

std::uint64_t StateReader::u64() {
  std::uint64_t value = 0;
  copy_to(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

double StateReader::real() {
  double value = 0;
  copy_to(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void StateReader::check_length(std::uint64_t expected) {
  const std::uint64_t length = u64();
  if (length != expected)
    refuse("a vector of " + std::to_string(length) + " elements, expected " +
           std::to_string(expected));
}

void StateReader::copy_to(std::span<std::byte> to) {
  if (to.size() > left_.size()) refuse("truncated");
  if (!to.empty()) std::memcpy(to.data(), left_.data(), to.size());
  left_ = left_.subspan(to.size());
}

void StateReader::end() const {
  if (!left_.empty()) refuse(std::to_string(left_.size()) + " bytes too long");
}

}  // namespace gv
