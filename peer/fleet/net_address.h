#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gv {

// Addresses in files, options and output: a name, an IPv4 address, or an IPv6 address, with the
// network interface if it is link-local (`fe80::1%eth0`). An IPv6 address needs brackets before a
// port, and may have them without one (RFC 3986). The program itself stores it without brackets.

struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
};

/// All addresses of this machine, IPv6 and IPv4. `0.0.0.0` stands for those of IPv4 alone.
inline constexpr std::string_view any_address = "::";

/// Removes the brackets of an IPv6 address; returns any other text unchanged.
std::string without_brackets(std::string_view text);
/// Returns "anna:27000", "[fe80::1%eth0]:27000".
std::string host_port_text(std::string_view host, std::uint16_t port);
/// Returns why no socket can use this host, given without brackets, or "" if one can. Does not look
/// names up.
std::string host_objection(std::string_view host);
/// Splits "anna:27000" or "[::1]:27000" without checking the host (see host_objection), which may
/// be a pattern. Throws std::invalid_argument with the reason.
HostPort split_host_port(std::string_view text);
/// Splits, and checks the host. Throws std::invalid_argument with the reason.
HostPort parse_host_port(std::string_view text);

/// Returns whether the host is a numeric address, which needs no name service.
bool is_numeric(std::string_view host);
/// Returns whether only this machine itself reaches the address, given without brackets.
bool is_loopback(std::string_view host);

}  // namespace gv
