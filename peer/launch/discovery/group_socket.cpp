#include "peer/launch/discovery/group_socket.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>

namespace gv {
namespace {

std::string numeric_text(const sockaddr* address) {
  SocketAddress copy;
  copy.size = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&copy.bytes, address, copy.size);
  return copy.host();
}

/// Returns the number of leading ones of a network mask.
int prefix_of(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  std::array<std::uint8_t, 16> bits{};
  if (mask->sa_family == AF_INET6)
    std::memcpy(bits.data(), &reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr, 16);
  else
    std::memcpy(bits.data(), &reinterpret_cast<const sockaddr_in*>(mask)->sin_addr, 4);
  int ones = 0;
  for (const std::uint8_t byte : bits) ones += std::popcount(byte);
  return ones;
}

/// The group of multicast DNS (RFC 6762, 3).
SocketAddress group_address(bool v6, unsigned interface) {
  SocketAddress group;
  if (v6) {
    auto& address = reinterpret_cast<sockaddr_in6&>(group.bytes);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(mdns_port);
    address.sin6_scope_id = interface;
    ::inet_pton(AF_INET6, "ff02::fb", &address.sin6_addr);
    group.size = sizeof address;
  } else {
    auto& address = reinterpret_cast<sockaddr_in&>(group.bytes);
    address.sin_family = AF_INET;
    address.sin_port = htons(mdns_port);
    ::inet_pton(AF_INET, "224.0.0.251", &address.sin_addr);
    group.size = sizeof address;
  }
  return group;
}

}  // namespace

std::vector<MulticastInterface> multicast_interfaces(const std::vector<std::string>& names) {
  constexpr std::size_t most_interfaces = 64;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::map<unsigned, MulticastInterface> all;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
    const bool usable = loopback || (each->ifa_flags & IFF_MULTICAST) != 0;
    const bool wanted = names.empty() || std::ranges::count(names, each->ifa_name) > 0;
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || !usable || !wanted)
      continue;
    const int family = each->ifa_addr->sa_family;
    const unsigned index = ::if_nametoindex(each->ifa_name);
    if (index == 0 || (family != AF_INET && family != AF_INET6)) continue;
    MulticastInterface& found = all[index];
    found.index = index;
    found.name = each->ifa_name;
    (family == AF_INET ? found.v4 : found.v6)
        .push_back({each->ifa_name, numeric_text(each->ifa_addr), prefix_of(each->ifa_netmask)});
  }
  std::vector<MulticastInterface> found;
  for (auto& [index, interface] : all)
    if (found.size() < most_interfaces) found.push_back(std::move(interface));
  return found;
}

bool is_link_local(const std::string& address) {
  return address.starts_with("fe80:") || address.starts_with("169.254.");
}

GroupSocket::GroupSocket(bool v6, std::uint16_t port)
    : v6_(v6),
      shared_(port == mdns_port),
      socket_(::socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      buffer_(most_mdns_bytes + 1) {
  if (!open()) return;
  if (shared_) {
    set(SOL_SOCKET, SO_REUSEADDR, 1);
    set(SOL_SOCKET, SO_REUSEPORT, 1);
  }
  if (v6) {
    set(IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    set(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
    set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, link_hops);
    set(IPPROTO_IPV6, IPV6_UNICAST_HOPS, link_hops);
  } else {
    set(IPPROTO_IP, IP_PKTINFO, 1);
    set(IPPROTO_IP, IP_RECVTTL, 1);
    set(IPPROTO_IP, IP_MULTICAST_TTL, link_hops);
    set(IPPROTO_IP, IP_TTL, link_hops);
  }
  SocketAddress any;
  any.bytes.ss_family = v6 ? AF_INET6 : AF_INET;
  any.size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (v6)
    reinterpret_cast<sockaddr_in6&>(any.bytes).sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in&>(any.bytes).sin_port = htons(port);
  if (::bind(socket_.get(), any.get(), any.size) == 0) return;
  const int error = errno;
  socket_.close();
  errno = error;
}

bool GroupSocket::join(unsigned interface) {
  group_req wanted{};
  wanted.gr_interface = interface;
  wanted.gr_group = group_address(v6_, interface).bytes;
  const int level = v6_ ? IPPROTO_IPV6 : IPPROTO_IP;
  ::setsockopt(socket_.get(), level, MCAST_LEAVE_GROUP, &wanted, sizeof wanted);
  return ::setsockopt(socket_.get(), level, MCAST_JOIN_GROUP, &wanted, sizeof wanted) == 0;
}

void GroupSocket::send(const MdnsPacket& bytes, const SocketAddress& to, unsigned interface) {
  SocketAddress target = to;
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  msghdr message{};
  message.msg_name = target.get();
  message.msg_namelen = target.size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = v6_ ? CMSG_SPACE(sizeof(in6_pktinfo)) : CMSG_SPACE(sizeof(in_pktinfo));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (v6_) {
    in6_pktinfo info{};
    info.ipi6_ifindex = interface;
    header->cmsg_level = IPPROTO_IPV6;
    header->cmsg_type = IPV6_PKTINFO;
    header->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(header), &info, sizeof info);
  } else {
    in_pktinfo info{};
    info.ipi_ifindex = static_cast<int>(interface);
    header->cmsg_level = IPPROTO_IP;
    header->cmsg_type = IP_PKTINFO;
    header->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(header), &info, sizeof info);
  }
  const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0) return;
}

void GroupSocket::send_to_group(const MdnsPacket& bytes, unsigned interface) {
  send(bytes, group_address(v6_, interface), interface);
}

void GroupSocket::read_control(msghdr& message, GroupPacket& packet) const {
  const SocketAddress group = group_address(v6_, 0);
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each))
    if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(each), sizeof info);
      const auto& own = reinterpret_cast<const sockaddr_in&>(group.bytes).sin_addr;
      packet.interface = static_cast<unsigned>(info.ipi_ifindex);
      packet.to_group = info.ipi_addr.s_addr == own.s_addr;
    } else if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(each), sizeof info);
      const auto& own = reinterpret_cast<const sockaddr_in6&>(group.bytes).sin6_addr;
      packet.interface = info.ipi6_ifindex;
      packet.to_group = IN6_ARE_ADDR_EQUAL(&info.ipi6_addr, &own);
    } else if ((each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_TTL) ||
               (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_HOPLIMIT)) {
      std::memcpy(&packet.hops, CMSG_DATA(each), sizeof packet.hops);
    }
}

std::optional<GroupPacket> GroupSocket::receive() {
  for (int skipped = 0; skipped < packets_at_a_time; ++skipped) {
    GroupPacket packet;
    iovec part{buffer_.data(), buffer_.size()};
    alignas(cmsghdr) std::array<std::byte, 256> control;
    msghdr message{};
    message.msg_name = packet.from.get();
    message.msg_namelen = sizeof packet.from.bytes;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(socket_.get(), &message, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {};
    if (static_cast<std::size_t>(count) > most_mdns_bytes) continue;
    packet.from.size = message.msg_namelen;
    packet.bytes = std::span(buffer_).first(static_cast<std::size_t>(count));
    read_control(message, packet);
    return packet;
  }
  return {};
}

std::vector<GroupSocket> open_sockets(std::initializer_list<std::uint16_t> ports) {
  std::vector<GroupSocket> sockets;
  for (const std::uint16_t port : ports)
    for (const bool v6 : {false, true}) {
      GroupSocket socket(v6, port);
      if (socket.open()) sockets.push_back(std::move(socket));
    }
  return sockets;
}

void wait_for(const std::vector<GroupSocket>& sockets,
              int wake,
              std::chrono::steady_clock::time_point until) {
  std::vector<pollfd> fds{{wake, POLLIN, 0}};
  for (const GroupSocket& each : sockets) fds.push_back({each.fd(), POLLIN, 0});
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
          .count();
  ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp(left, 0L, 60'000L)));
}

}  // namespace gv
