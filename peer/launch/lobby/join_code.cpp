#include "peer/launch/lobby/join_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include "peer/wire/seal/spake2.h"

namespace gv {
namespace {

constexpr std::size_t lobby_digits = 2, secret_digits = 6;
constexpr std::uint32_t all_codes = 100'000'000;

/// Draws uniformly from 0 .. n - 1: numbers above the last multiple of n are drawn again.
std::uint32_t random_below(std::uint32_t n) {
  constexpr std::uint64_t range = std::uint64_t{1} << 32U;
  const std::uint64_t limit = range - range % n;
  std::uint32_t drawn = 0;
  do {
    if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn))
      throw std::runtime_error("the system gives no random numbers");
  } while (drawn >= limit);
  return drawn % n;
}

JoinCode code_of(std::string_view digits) {
  JoinCode code;
  std::from_chars(digits.data(), digits.data() + lobby_digits, code.lobby);
  code.secret = digits.substr(lobby_digits);
  return code;
}

/// Returns the wait of a source with this number of wrong codes.
Time wait_after(unsigned wrong_codes) {
  if (wrong_codes <= JoinAttempts::free_attempts) return Time{0};
  Time wait = JoinAttempts::first_wait;
  for (unsigned k = JoinAttempts::free_attempts + 1;
       k < wrong_codes && wait < JoinAttempts::longest_wait; ++k)
    wait *= 2;
  return std::min(wait, JoinAttempts::longest_wait);
}

}  // namespace

JoinCode new_join_code() {
  return code_of(fmt::format("{:08}", random_below(all_codes)));
}

std::string to_string(const JoinCode& code) {
  const std::string_view secret = code.secret;
  return fmt::format("{:02}-{}-{}", code.lobby, secret.substr(0, secret_digits / 2),
                     secret.substr(secret_digits / 2));
}

std::optional<JoinCode> parse_join_code(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    if (c < '0' || c > '9' || digits.size() == lobby_digits + secret_digits) return {};
    digits += c;
  }
  if (digits.size() != lobby_digits + secret_digits) return {};
  return code_of(digits);
}

Secret stretch(const JoinCode& code) {
  return stretch(code.secret, fmt::format("grapevine lobby {:02}", code.lobby));
}

std::string attempt_source(std::string_view address) {
  const std::size_t zone_at = std::min(address.find('%'), address.size());
  const std::string host(address.substr(0, zone_at));
  std::array<char, INET6_ADDRSTRLEN> text{};
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return ::inet_ntop(AF_INET, &v4, text.data(), text.size());
  if (::inet_pton(AF_INET6, host.c_str(), &v6) != 1) return "?";
  if (IN6_IS_ADDR_V4MAPPED(&v6))
    return ::inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
  std::fill(v6.s6_addr + 8, v6.s6_addr + 16, std::uint8_t{0});
  const std::string network = ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
  constexpr std::size_t longest_zone = 16;  // IFNAMSIZ
  return network + "/64" + std::string(address.substr(zone_at, 1 + longest_zone));
}

std::optional<Time> JoinAttempts::wait(std::string_view source, Time now) const {
  Time until = all_back_ - (attempts_in_all - 1) * refill;
  const auto found = sources_.find(source);
  if (found != sources_.end()) until = std::max(until, found->second.until);
  if (until <= now) return {};
  return until - now;
}

void JoinAttempts::failed(std::string_view source, Time now) {
  all_back_ = std::min(std::max(all_back_, now) + refill, now + attempts_in_all * refill);
  auto found = sources_.find(source);
  if (found == sources_.end()) {
    const auto earlier = [](const auto& a, const auto& b) { return a.second.last < b.second.last; };
    if (sources_.size() == most_sources)
      sources_.erase(std::min_element(sources_.begin(), sources_.end(), earlier));
    found = sources_.emplace(std::string(source), Source{}).first;
  }
  Source& known = found->second;
  if (known.wrong_codes < std::numeric_limits<unsigned>::max()) ++known.wrong_codes;
  known.last = now;
  known.until = now + wait_after(known.wrong_codes);
}

void JoinAttempts::succeeded(std::string_view source) {
  const auto found = sources_.find(source);
  if (found != sources_.end()) sources_.erase(found);
}

}  // namespace gv
