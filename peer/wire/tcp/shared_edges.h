#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>

#include "gossip/link/carrier.h"
#include "peer/wire/lend/region.h"
#include "peer/wire/lend/sharing.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

/// Message with which two processes of one machine exchange regions over a Unix socket: it comes
/// with the region's file and describes its owner and content.
struct Offer {
  static constexpr std::uint64_t current = 0x31534d5647;  // "GVMS1"
  std::uint64_t version = current;
  std::uint64_t incarnation = 0;
  std::uint64_t bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t rows = 0;
  std::uint32_t peer = 0;
  std::uint32_t row = 0;  ///< row of the receiver in the offered region

  RegionShape shape() const { return {.blocks = blocks, .rows = rows, .bytes = bytes}; }
};

/// Sends without waiting. Returns false if it was not sent completely.
bool send_offer(int socket, const Offer& offer, int file);
/// Returns the received offer, or nothing if it is not an offer with a file.
std::optional<std::pair<Offer, Descriptor>> receive_offer(int socket);
/// Returns whether the process at the other end has the same user; memory goes to no other.
bool same_user(int socket);

/// Memory that one process shares with its neighbours on the same machine. Each process listens at
/// an abstract Unix socket, whose name is in its Hello; the neighbour of lower id connects, and
/// both exchange their regions. The kernel guarantees machine, network namespace and user. The
/// socket stays open, so that its end shows the end of the process. If any step fails, the edge's
/// payloads are sent as bytes, and nothing else changes.
class SharedEdges {
 public:
  /// Returns null if this system has no such memory. `options`: without a region.
  static std::unique_ptr<SharedEdges> make(asio::io_context& io,
                                           const RegionShape& shape,
                                           Sharing::Options options);
  SharedEdges(const SharedEdges&) = delete;
  SharedEdges& operator=(const SharedEdges&) = delete;

  const std::string& door() const { return door_; }
  int descriptor() const { return file_->descriptor(); }  ///< descriptor of our region
  Sharing& sharing() { return sharing_; }
  const Sharing& sharing() const { return sharing_; }
  /// Called with the neighbour's Hello when its connection has become the link's.
  void met(PeerId neighbor, const Hello& theirs);
  /// Locks our region for a device, before the loop runs, and later, in jobs, each region of a
  /// neighbour. Returns false, and locks nothing, if the driver refuses ours.
  bool lock_for(std::shared_ptr<PageLock> device, LockedRegions::Lane lane);
  /// Unlocks regions that are no longer used. Call regularly.
  void look_after() {
    if (locked_) locked_->unlock_unused();
  }
  /// Stops accepting connections.
  void close();

 private:
  using Local = asio::local::stream_protocol;
  using Socket = std::shared_ptr<Local::socket>;

  SharedEdges(asio::io_context& io, std::shared_ptr<MemoryFile> file, Sharing::Options options);
  bool listen();
  asio::awaitable<void> accept_loop();
  asio::awaitable<void> visit(PeerId neighbor, std::string door);
  asio::awaitable<void> receive_visit(Socket socket);
  asio::awaitable<void> watch(PeerId neighbor, Socket socket);
  /// Waits for input. Returns false on a timeout.
  asio::awaitable<bool> readable(Socket socket);
  std::optional<PeerId> take(const Socket& socket, std::optional<PeerId> expected);
  bool send_ours(const Socket& socket, PeerId to);

  asio::io_context& io_;
  std::shared_ptr<MemoryFile> file_;
  Sharing sharing_;
  std::optional<LockedRegions> locked_;  ///< set if a device copies payloads
  Local::acceptor acceptor_;
  std::string door_;
  std::map<PeerId, Socket> sockets_;  ///< sockets over which the regions came
  std::size_t visitors_ = 0;          ///< connections not yet proved to be a neighbour's
};

}  // namespace gv
