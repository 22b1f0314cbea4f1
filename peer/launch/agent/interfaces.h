#pragma once

#include <string>
#include <vector>

namespace gv {

/// An address at which other machines may find this one.
struct InterfaceAddress {
  std::string interface;  ///< "enp3s0"
  std::string address;    ///< numeric, IPv4 or IPv6
  int prefix = 0;         ///< bits that its network's addresses have in common
};

/// Returns those of the interfaces that are up, but none that lead to no other machine or to
/// another one on each: loopback, link-local addresses, and the bridges and virtual pairs of
/// docker, libvirt and their like, which have the same address everywhere. IPv4 first.
std::vector<InterfaceAddress> interface_addresses();

/// Returns whether the name is that of such a bridge or pair.
bool leads_nowhere(const std::string& interface);
/// Returns whether both numeric addresses lie in one network of `prefix` bits; else false.
bool same_network(const std::string& a, const std::string& b, int prefix);

}  // namespace gv
