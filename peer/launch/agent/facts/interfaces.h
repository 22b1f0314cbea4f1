#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "peer/runtime/assembly/assembly.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// An address at which other machines may reach this one.
struct InterfaceAddress {
  std::string interface;  ///< "enp3s0"
  std::string address;    ///< numeric, IPv4 or IPv6; a link-local one as "fe80::1%enp3s0"
  int prefix = 0;         ///< bits that the addresses of its network share
  void fields(auto& v) { v("interface", interface), v("address", address), v("prefix", prefix); }
};

/// Returns the addresses of the interfaces that are up, without those that lead to no other
/// machine, or to another one on each machine: loopback, link-local IPv4, and the bridges and
/// virtual pairs of docker, libvirt and others, which have the same address everywhere. IPv4 first,
/// link-local IPv6 last.
std::vector<InterfaceAddress> interface_addresses();

/// Returns whether the interface is such a bridge or pair.
bool leads_nowhere(const std::string& interface);
/// Returns the addresses at which a machine with the addresses `own` calls another one, the
/// likeliest first: those in a shared network, others, and link-local ones by each of its own
/// interfaces. Leaves out its own addresses, because docker's bridges have the same one everywhere.
std::vector<std::string> as_called_by(const std::vector<InterfaceAddress>& own,
                                      const std::vector<std::string>& theirs);
/// Returns whether both addresses are numeric and in one network of `prefix` bits.
bool same_network(const std::string& a, const std::string& b, int prefix);

/// Rendezvous of peers without a launcher: each writes its address into a shared folder
/// (FOLDER/DIGEST/ID.json) and reads its neighbours' addresses there. Any file system with atomic
/// renames will do; no process serves it. Peers replace the files of an earlier run as they come.
class Rendezvous {
 public:
  /// Throws std::runtime_error if the folder cannot be made.
  Rendezvous(const Assembly& fleet, PeerId id, const std::string& folder);

  /// Throws std::runtime_error if the file cannot be written.
  void announce(std::uint16_t port);
  /// Returns the neighbours' addresses once all have written theirs, and logs which are missing.
  /// Throws std::runtime_error with those that are missing after `patience`.
  std::vector<PeerAddress> wait(Time patience, const std::function<void(const std::string&)>& say);
  /// Returns the addresses that have changed since the last call.
  std::vector<PeerAddress> changed();

 private:
  std::string file_of(PeerId id) const;

  PeerId id_;
  std::string folder_;
  std::vector<PeerId> neighbors_;
  std::vector<InterfaceAddress> own_;
  std::string machine_;
  std::map<PeerId, std::string> known_;  ///< text of each file that was read
};

}  // namespace gv
