#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gv {

// Addresses as people write them, in files, options and on screens: a name, an IPv4 address or an
// IPv6 address, a link-local one with the network interface that leads there (`fe80::1%eth0`). An
// IPv6 address stands in brackets before a port, and may stand in them without one (RFC 3986). The
// program itself keeps it without brackets.

struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
};

/// All addresses of this machine, of both families. `0.0.0.0` is those of IPv4 alone.
inline constexpr std::string_view any_address = "::";

/// Takes the brackets off an IPv6 address; any other text stays.
std::string without_brackets(std::string_view text);
/// "anna:27000", "[fe80::1%eth0]:27000".
std::string host_port_text(std::string_view host, std::uint16_t port);
/// Returns why no socket can use this host, given without brackets; "" if one can. A name may exist
/// or not.
std::string host_objection(std::string_view host);
/// Splits "anna:27000" or "[::1]:27000"; does not look at the host (host_objection), which may be a
/// pattern. Throws std::invalid_argument with the reason.
HostPort split_host_port(std::string_view text);
/// Splits, and checks the host. Throws std::invalid_argument with the reason.
HostPort parse_host_port(std::string_view text);

/// Returns whether the host is meant as a number, which no name service need be asked for.
bool is_numeric(std::string_view host);
/// Returns whether only this machine itself reaches the address, given without brackets.
bool is_loopback(std::string_view host);

}  // namespace gv
