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

#include "gossip/link/frames.h"
#include "peer/wire/lend/descriptor.h"
#include "peer/wire/lend/region.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// The message by which two processes of one machine hand each other a region over a Unix socket:
/// beside its file, who it is of and what it holds.
struct Offer {
  static constexpr std::uint64_t current = 0x31534d5647;  // "GVMS1"
  std::uint64_t version = current;
  std::uint64_t incarnation = 0;
  std::uint64_t bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t rows = 0;
  std::uint32_t peer = 0;
  std::uint32_t row = 0;  ///< the receiver's, in the offered region

  RegionShape shape() const { return {.blocks = blocks, .rows = rows, .bytes = bytes}; }
};

/// Sends without waiting; false: it did not go out whole.
bool send_offer(int socket, const Offer& offer, int file);
/// Returns what has come; nothing: it is no offer with a file.
std::optional<std::pair<Offer, Descriptor>> receive_offer(int socket);
/// Returns whether the process at the other end is the same user's; only then does memory go to it.
bool same_user(int socket);

/// The memory that one process shares with those neighbours that run on its machine. Each process
/// listens at a Unix socket without a file, whose name its Hello tells; the neighbour of lower id
/// comes there, and both hand over their regions. The kernel vouches for the machine, the network
/// namespace and the user; the socket stays open, so that its end tells of the process's.
/// Where any of this fails the edge's payloads travel as bytes, and nothing else changes.
class SharedEdges {
 public:
  /// `options` without a region. Null: this system has no memory that can be shared so.
  static std::unique_ptr<SharedEdges> make(asio::io_context& io,
                                           const RegionShape& shape,
                                           Sharing::Options options);
  SharedEdges(const SharedEdges&) = delete;
  SharedEdges& operator=(const SharedEdges&) = delete;

  const std::string& door() const { return door_; }
  int descriptor() const { return file_->descriptor(); }  ///< of our region
  Sharing& sharing() { return sharing_; }
  const Sharing& sharing() const { return sharing_; }
  /// Its Hello came over a connection that is now the link's.
  void met(PeerId neighbor, const Hello& theirs);
  /// Locks our region for a device, before the loop runs, and from then on in jobs each that a
  /// neighbour gives us; false: the driver refuses ours, and nothing is locked.
  bool lock_for(std::shared_ptr<PageLock> device, LockedRegions::Lane lane);
  /// Unlocks what nobody needs any more; to be called now and then.
  void look_after() {
    if (locked_) locked_->unlock_unused();
  }
  /// Nobody comes in any more.
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
  /// Waits for something to read; false: nothing came in time.
  asio::awaitable<bool> readable(Socket socket);
  std::optional<PeerId> take(const Socket& socket, std::optional<PeerId> expected);
  bool send_ours(const Socket& socket, PeerId to);

  asio::io_context& io_;
  std::shared_ptr<MemoryFile> file_;
  Sharing sharing_;
  std::optional<LockedRegions> locked_;  ///< none: no device copies from here or there
  Local::acceptor acceptor_;
  std::string door_;
  std::map<PeerId, Socket> sockets_;  ///< over which each region came
  std::size_t visitors_ = 0;          ///< that have not proved to be a neighbour
};

}  // namespace gv
