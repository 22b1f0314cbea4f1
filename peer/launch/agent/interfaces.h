#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/wire/tcp/tcp_world.h"

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

/// The way in which peers without a launcher find each other: each writes where it listens into a
/// folder that all of them see (FOLDER/DIGEST/ID.json), and reads where its neighbours do. Any file
/// system that renames in one step will do; nobody serves it. What an earlier run has left there is
/// replaced as its peers come.
class Meeting {
 public:
  /// Throws std::runtime_error when the folder cannot be made.
  Meeting(const Assembly& fleet, PeerId id, const std::string& folder);

  /// Throws std::runtime_error when it cannot be written.
  void announce(std::uint16_t port);
  /// Returns where the neighbours listen, once all have said so; `say` is told whom it waits for.
  /// Throws std::runtime_error with those that have not within `patience`.
  std::vector<PeerAddress> wait(Time patience, const std::function<void(const std::string&)>& say);
  /// Returns those that have said something else since they were last asked for.
  std::vector<PeerAddress> changed();

 private:
  std::string file_of(PeerId id) const;

  PeerId id_;
  std::string folder_;
  std::vector<PeerId> neighbors_;
  std::vector<InterfaceAddress> own_;
  std::string machine_;
  std::map<PeerId, std::string> known_;  ///< the text of each that was read
};

}  // namespace gv
