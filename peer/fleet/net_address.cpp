#include "peer/fleet/net_address.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"

namespace gv {
namespace {

std::optional<in6_addr> v6_of(std::string_view text) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, std::string(text).c_str(), &bytes) != 1) return {};
  return bytes;
}

bool is_v4(std::string_view text) {
  in_addr bytes{};
  return ::inet_pton(AF_INET, std::string(text).c_str(), &bytes) == 1;
}

std::string v6_objection(std::string_view host) {
  const std::size_t percent = host.find('%');
  const std::string_view number = host.substr(0, percent);
  const std::optional<in6_addr> address = v6_of(number);
  if (!address)
    return fmt::format(
        "`{}` is no IPv6 address; one with a port is written [fe80::1%eth0]:27000, and a name or "
        "an IPv4 address has no colon",
        printable(host, 100));
  if (IN6_IS_ADDR_V4MAPPED(&*address))
    return fmt::format("`{}` is an IPv4 address: write it as one, such as 10.0.0.7",
                       printable(host, 100));
  if (IN6_IS_ADDR_MULTICAST(&*address))
    return fmt::format("`{}` is the address of a group, not of a machine", printable(host, 100));
  const bool scoped = percent != std::string_view::npos;
  const bool local = IN6_IS_ADDR_LINKLOCAL(&*address);
  if (local && !scoped)
    return fmt::format(
        "`{0}` is link-local: add the network interface that leads there, such as {0}%eth0",
        printable(host, 100));
  const std::string_view interface = scoped ? host.substr(percent + 1) : "";
  if (scoped && !local)
    return fmt::format(
        "`{}` names a network interface, which only link-local addresses (fe80::) need: write {}",
        printable(host, 100), number);
  if (scoped && (interface.empty() || interface.size() >= IFNAMSIZ ||
                 interface.find_first_of("/%[] ") != std::string_view::npos))
    return fmt::format(
        "`{}` ends with no name of a network interface, such as eth0 (`ip link` lists them)",
        printable(host, 100));
  return "";
}

}  // namespace

std::string without_brackets(std::string_view text) {
  const bool in_brackets = text.starts_with('[') && text.ends_with(']');
  return std::string(in_brackets ? text.substr(1, text.size() - 2) : text);
}

std::string host_port_text(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string host_objection(std::string_view host) {
  constexpr std::size_t longest = 255;
  if (host.empty()) return "it names no host";
  if (host.size() > longest || !is_printable(host) ||
      host.find_first_of(" /[]@\n") != std::string_view::npos)
    return fmt::format("`{}` is no name of a machine", printable(host, 100));
  if (host.find(':') != std::string_view::npos) return v6_objection(host);
  if (is_numeric(host) && !is_v4(host))
    return fmt::format("`{}` is no IPv4 address: it has four numbers from 0 to 255",
                       printable(host, 100));
  return "";
}

HostPort split_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool bare_v6 = !text.starts_with('[') && std::ranges::count(text, ':') > 1;
  if (bare_v6)
    throw std::invalid_argument(
        "an IPv6 address stands in brackets before the port, such as [fe80::1%eth0]:27000");
  if (colon == std::string_view::npos || colon == 0 || text.ends_with(']'))
    throw std::invalid_argument("expected HOST:PORT, such as anna:27000 or [fd00::1]:27000");
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && !host.ends_with(']'))
    throw std::invalid_argument("its [ has no ] before the port");
  HostPort found{.host = without_brackets(host)};
  const auto port = as_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) throw std::invalid_argument("the port is a number from 0 (any free one) to 65535");
  found.port = *port;
  return found;
}

HostPort parse_host_port(std::string_view text) {
  HostPort found = split_host_port(text);
  const bool in_brackets = text.starts_with('[');
  std::string wrong = host_objection(found.host);
  if (wrong.empty() && in_brackets && found.host.find(':') == std::string::npos)
    wrong = "brackets are for IPv6 addresses alone";
  if (!wrong.empty()) throw std::invalid_argument(wrong);
  return found;
}

bool is_numeric(std::string_view host) {
  return !host.empty() && (host.find(':') != std::string_view::npos ||
                           host.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  if (is_v4(host)) return host.starts_with("127.");
  const std::optional<in6_addr> address = v6_of(host);
  return address && IN6_IS_ADDR_LOOPBACK(&*address);
}

}  // namespace gv
