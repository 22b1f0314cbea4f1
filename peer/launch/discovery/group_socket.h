#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/discovery/mdns.h"
#include "peer/wire/socket/descriptor.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {

// UDP sockets that send and receive multicast DNS by interface.

inline constexpr int link_hops = 255;  ///< hop limit of a packet that no router has forwarded
inline constexpr int packets_at_a_time = 64;  ///< from one socket, before timers have their turn

/// An interface that multicast may use, with its numeric addresses (link-local IPv6:
/// "fe80::1%eth0").
struct MulticastInterface {
  unsigned index = 0;
  std::string name;
  std::vector<InterfaceAddress> v4, v6;

  const std::vector<InterfaceAddress>& of(bool six) const { return six ? v6 : v4; }
};

/// Returns the interfaces that are up and have multicast, and the loopback: at most 64, in the
/// system's order. `names` are those wanted; none stands for all.
std::vector<MulticastInterface> multicast_interfaces(const std::vector<std::string>& names);
/// Returns whether a numeric address has a meaning on one link alone: fe80:: or 169.254.0.0/16.
bool is_link_local(const std::string& address);

/// A packet that has arrived.
struct GroupPacket {
  std::span<const std::byte> bytes;
  SocketAddress from;
  unsigned interface = 0;  ///< on which it came
  bool to_group = false;
  int hops = 0;  ///< its remaining hop limit
};

/// A UDP socket of one family that sends and receives by interface.
class GroupSocket {
 public:
  /// The socket is closed, with errno set, if the port cannot be bound. Port 0 is any free one;
  /// mdns_port is shared with the responders of other programs.
  GroupSocket(bool v6, std::uint16_t port);

  bool open() const { return socket_.open(); }
  /// Returns whether its port is that of multicast DNS.
  bool shared() const { return shared_; }
  int fd() const { return socket_.get(); }
  bool v6() const { return v6_; }
  /// Joins the group on an interface again, because the kernel may have dropped the membership
  /// with the interface's last address. Returns false if this fails.
  bool join(unsigned interface);
  /// Sends once: a packet that is lost is like one lost in the network.
  void send(const MdnsPacket& bytes, const SocketAddress& to, unsigned interface);
  void send_to_group(const MdnsPacket& bytes, unsigned interface);
  /// Returns the next packet, whose bytes stay valid until the next call; nothing if none waits.
  /// Skips packets that are too long.
  std::optional<GroupPacket> receive();

 private:
  void set(int level, int option, int value) {
    ::setsockopt(socket_.get(), level, option, &value, sizeof value);
  }
  void read_control(msghdr& message, GroupPacket& packet) const;

  bool v6_, shared_;
  Descriptor socket_;
  std::vector<std::byte> buffer_;
};

/// Returns the sockets of both families for these ports, without those that cannot be bound; then
/// errno has the last reason.
std::vector<GroupSocket> open_sockets(std::initializer_list<std::uint16_t> ports);
/// Waits until a socket can be read, `wake` can (-1: none), or this time has come.
void wait_for(const std::vector<GroupSocket>& sockets,
              int wake,
              std::chrono::steady_clock::time_point until);

}  // namespace gv
