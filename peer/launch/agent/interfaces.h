#pragma once

#include <string>
#include <vector>

namespace gv {

/// An address at which other machines may find this one.
struct InterfaceAddress {
  std::string interface;  ///< "enp3s0"
  std::string address;    ///< numeric, IPv4 or IPv6; a link-local one as "fe80::1%enp3s0"
  int prefix = 0;         ///< bits that its network's addresses have in common
};

/// Returns those of the interfaces that are up, but none that lead to no other machine or to
/// another one on each: loopback, link-local addresses of IPv4, and the bridges and virtual pairs
/// of docker, libvirt and their like, which have the same address everywhere. IPv4 first,
/// link-local IPv6 last.
std::vector<InterfaceAddress> interface_addresses();

/// Returns whether the name is that of such a bridge or pair.
bool leads_nowhere(const std::string& interface);
/// Returns how a machine with the addresses `own` calls at those of another one, the likeliest
/// first: of a network of both, others, and link-local ones by each of its own interfaces. Leaves
/// out what is its own address too: docker's bridges and the like have the same one everywhere.
std::vector<std::string> as_called_by(const std::vector<InterfaceAddress>& own,
                                      const std::vector<std::string>& theirs);
/// Returns whether both numeric addresses lie in one network of `prefix` bits; else false.
bool same_network(const std::string& a, const std::string& b, int prefix);

}  // namespace gv
