#include "peer/show/live/http_access.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/random.h>

namespace gv::http {
namespace {

/// Takes as long for a wrong digit at the front as for one at the end.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[k] ^ b[k]));
  return difference == 0;
}

bool is_ours(const Door& door, const Request& request) {
  const std::string* const host = request.header("host");
  if (host == nullptr) return false;
  std::string name = *host;
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(door.hosts, name) != door.hosts.end();
}

bool has_bearer(const Door& door, const Request& request) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string* const header = request.header("authorization");
  return header != nullptr && header->starts_with(scheme) &&
         same_secret(std::string_view(*header).substr(scheme.size()), door.token);
}

bool has_cookie(const Door& door, const Request& request) {
  const std::string* const header = request.header("cookie");
  if (header == nullptr) return false;
  const auto value = cookie_value(*header, door.cookie);
  return value && same_secret(*value, door.token);
}

}  // namespace

Admission admit(const Door& door, const Request& request) {
  if (door.control) return {};
  if (!is_ours(door, request))
    return {.status = 403, .why = "Host is not the address that this run listens on"};
  if (door.token.empty()) return {};
  const auto given = query_value(request.query, "token");
  if (given && same_secret(*given, door.token)) return {.keep_cookie = true};
  if (has_bearer(door, request) || has_cookie(door, request)) return {};
  return {.status = 403,
          .why =
              "the token is missing or wrong: open the address that grapevine run has printed, "
              "or send Authorization: Bearer TOKEN"};
}

std::string cookie_header(const Door& door) {
  return fmt::format(
      "Set-Cookie: {}={}; Path=/; SameSite=Strict; HttpOnly", door.cookie, door.token);
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the system gives no random bytes for a token");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace gv::http
