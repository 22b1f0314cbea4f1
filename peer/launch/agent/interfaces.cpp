#include "peer/launch/agent/interfaces.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace gv {
namespace {

/// The bytes of a numeric address, 4 or 16; none: it is no such address.
std::vector<std::uint8_t> bytes_of(const std::string& address) {
  std::vector<std::uint8_t> bytes(4);
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(16);
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

template <typename Address>
int bits_set(const Address& mask) {
  std::array<std::uint8_t, sizeof mask> bytes{};
  std::memcpy(bytes.data(), &mask, sizeof mask);
  int bits = 0;
  for (const std::uint8_t byte : bytes) bits += std::popcount(byte);
  return bits;
}

/// Returns an empty address where other machines cannot use it.
InterfaceAddress usable(const ifaddrs& entry) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  InterfaceAddress address{.interface = entry.ifa_name, .address = ""};
  if (entry.ifa_addr->sa_family == AF_INET) {
    sockaddr_in own{}, mask{};
    std::memcpy(&own, entry.ifa_addr, sizeof own);
    if (entry.ifa_netmask != nullptr) std::memcpy(&mask, entry.ifa_netmask, sizeof mask);
    constexpr std::uint32_t link_local = 0xA9FE;  // 169.254.0.0/16
    if (ntohl(own.sin_addr.s_addr) >> 16 == link_local) return address;
    address.prefix = bits_set(mask.sin_addr);
    address.address = ::inet_ntop(AF_INET, &own.sin_addr, text.data(), text.size());
  } else if (entry.ifa_addr->sa_family == AF_INET6) {
    sockaddr_in6 own{}, mask{};
    std::memcpy(&own, entry.ifa_addr, sizeof own);
    if (entry.ifa_netmask != nullptr) std::memcpy(&mask, entry.ifa_netmask, sizeof mask);
    address.prefix = bits_set(mask.sin6_addr);
    address.address = ::inet_ntop(AF_INET6, &own.sin6_addr, text.data(), text.size());
    if (IN6_IS_ADDR_LINKLOCAL(&own.sin6_addr)) address.address += "%" + address.interface;
  }
  return address;
}

bool is_link_local(const std::string& address) {
  return address.find('%') != std::string::npos;
}

/// IPv4, IPv6, link-local IPv6.
int rank_of(const InterfaceAddress& address) {
  if (is_link_local(address.address)) return 2;
  return address.address.find(':') != std::string::npos ? 1 : 0;
}

}  // namespace

bool leads_nowhere(const std::string& interface) {
  constexpr std::array<std::string_view, 9> virtual_ones = {
      "lo", "docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "flannel"};
  return interface == "lo" ||
         std::any_of(virtual_ones.begin() + 1, virtual_ones.end(), [&](std::string_view name) {
           return interface.starts_with(name);
         });
}

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<InterfaceAddress> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (entry->ifa_addr == nullptr || !up || leads_nowhere(entry->ifa_name)) continue;
    InterfaceAddress address = usable(*entry);
    if (!address.address.empty()) all.push_back(std::move(address));
  }
  std::ranges::stable_sort(all, {}, rank_of);
  return all;
}

std::vector<std::string> as_called_by(const std::vector<InterfaceAddress>& own,
                                      const std::vector<std::string>& theirs) {
  const auto ours = [&](const std::string& address) {
    return std::ranges::count(own, address, &InterfaceAddress::address) > 0;
  };
  std::vector<std::string> near, far, local;
  for (const std::string& address : theirs) {
    if (is_link_local(address)) {
      const std::string number = address.substr(0, address.find('%'));
      for (const InterfaceAddress& each : own)
        if (is_link_local(each.address) && !ours(number + "%" + each.interface))
          local.push_back(number + "%" + each.interface);
    } else if (!ours(address)) {
      const bool together = std::ranges::any_of(own, [&](const InterfaceAddress& each) {
        return same_network(each.address, address, each.prefix);
      });
      (together ? near : far).push_back(address);
    }
  }
  near.insert(near.end(), far.begin(), far.end());
  near.insert(near.end(), local.begin(), local.end());
  return near;
}

bool same_network(const std::string& a, const std::string& b, int prefix) {
  const std::vector<std::uint8_t> x = bytes_of(a);
  const std::vector<std::uint8_t> y = bytes_of(b);
  if (x.empty() || x.size() != y.size()) return false;
  for (int bit = 0; bit < prefix; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    if (at >= x.size()) return false;
    if (((x[at] ^ y[at]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace gv
