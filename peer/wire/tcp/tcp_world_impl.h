#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "gossip/link/carrier.h"
#include "gossip/link/link_layer.h"
#include "gossip/seam/message.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/region.h"
#include "peer/wire/lend/sharing.h"
#include "peer/wire/socket/descriptor.h"
#include "peer/wire/tcp/connecting.h"
#include "peer/wire/tcp/lent_thread.h"
#include "peer/wire/tcp/tcp_connection.h"
#include "peer/wire/tcp/tcp_world.h"
#include "peer/wire/tcp/timing.h"

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

/// Detects that this process did not run: a beat came later than it was due, by more than the
/// loop's own work since the last beat explains. A restart after a stop (a signal, a machine that
/// wakes), or a processor shared with others, does not report the length of the pause.
class Standstill {
 public:
  /// Time between two beats, short compared with the stops that delay a fleet, because the part of
  /// a stop before the next beat is due is not seen.
  static constexpr Time period{std::chrono::milliseconds(10)};
  /// Delay that a beat may have, because the kernel lets a process wait for its turn now and then.
  static constexpr Time tolerance{std::chrono::milliseconds(10)};

  explicit Standstill(Time now) : last_(now) {}

  /// Records a beat. `worked`: processor time used by the loop's thread.
  void beat(Time now, Time worked) {
    before_ = total(now, worked);
    last_ = now;
    worked_ = worked;
  }
  /// Returns how long the process stood still until now, a pause in progress included.
  Time total(Time now, Time worked) const {
    const Time overdue = now - last_ - period - (worked - worked_);
    return overdue > tolerance ? before_ + overdue : before_;
  }
  /// Returns total() if it does not depend on `worked`, whose measurement is a system call.
  std::optional<Time> known(Time now) const {
    if (now - last_ - period > tolerance) return {};
    return before_;
  }

 private:
  Time last_;
  Time worked_{0};
  Time before_{0};
};

/// Decides whether a loop without work polls before it sleeps, because waking a thread takes longer
/// than many answers of a neighbour. Polling gives the core to any other thread that wants it, and
/// is bounded: after each poll in vain (a slow neighbour, or a core that others use) the next waits
/// sleep at once, and their number doubles.
class PollingWaits {
 public:
  static constexpr Time longest{std::chrono::microseconds(50)};  ///< maximum length of a poll
  static constexpr int most_doublings = 10;

  /// Returns whether the wait that begins may poll.
  bool begin() {
    if (sleeps_ == 0) return true;
    --sleeps_;
    return false;
  }
  /// Records the end of a wait that polled for `length`.
  void end(Time length) {
    const bool in_vain = length > longest;
    vain_ = std::clamp(vain_ + (in_vain ? 1 : -1), 0, most_doublings);
    if (in_vain) sleeps_ = (1 << vain_) - 1;
  }

 private:
  int vain_ = 0;    ///< polls in vain, less those that found work
  int sleeps_ = 0;  ///< waits left that sleep at once
};

/// Implementation in two files: tcp_world.cpp is the world of one peer; tcp_carrier.cpp carries its
/// link layer, and decides which connections are encrypted and which peers they may belong to.
class TcpWorldImpl : public TcpWorld, private Carrier {
 public:
  explicit TcpWorldImpl(TcpOptions options);

  std::uint16_t listen() override;
  void use_keys(std::shared_ptr<const TlsContext> keys) override {
    options_.keys = std::move(keys);
  }
  void use_token(std::shared_ptr<const RunToken> token) override {
    options_.token = std::move(token);
  }
  void run(const std::vector<PeerAddress>& addresses,
           LinkUser& user,
           std::function<void()> begin) override;
  void end_loop() override { links_->end(now()); }
  void abandon() override { io_.stop(); }
  void give_up() override {
    if (!begun_) io_.stop();
  }
  void readdress(const PeerAddress& address) override;
  void cut(PeerId neighbor, Time length) override {
    if (links_) links_->cut(neighbor, now() + length, now());
  }
  std::vector<int> descriptors() const override;
  void post(std::function<void()> f) override { asio::post(io_, std::move(f)); }

  Time now() const override { return Clock::now() - began_; }
  Time stood_still() const override;
  void send(PeerId to, Message message) override;
  Time stamp() const override { return Clock::now().time_since_epoch(); }
  Time sent_at(const Message& message) override;
  void after(Time delay, std::function<void()> f) override;
  /// Does short work on the loop if its lane is empty.
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override;
  std::uint64_t sent_bytes() const override { return sent_bytes_; }
  std::uint64_t repeated_bytes() const override { return repeated_bytes_; }
  std::shared_ptr<BufferMemory> memory() const override {
    return lends_ ? shared_->sharing().memory() : nullptr;
  }
  std::uint64_t incarnation(PeerId neighbor) const override {
    return links_->incarnation(neighbor);
  }

 private:
  using tcp = asio::ip::tcp;
  using Clock = std::chrono::steady_clock;
  using Resolved = std::pair<asio::error_code, std::vector<tcp::endpoint>>;
  struct Connection {
    std::shared_ptr<TcpConnection> stream;
    std::optional<PeerId> neighbor;  ///< set once it is known to be a neighbour
    bool dialled = false;            ///< we dialled
    /// Both ends, dialling one first, if a plain Hello must prove to know the run's token; or "".
    std::string ends = {};
    Time since{0};  ///< stamp() before which such a proof is too old
  };

  /// A lane of this peer's arithmetic.
  struct Work {
    Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() {
      if (thread) thread->end();
    }

    int jobs = 0;                        ///< jobs given to the thread and not done
    JobWatch watch;                      ///< watches the thread
    std::shared_ptr<Arithmetic> thread;  ///< null until first needed
    std::uint64_t done() const { return thread ? thread->done() : 0; }
    bool working() const { return thread && thread->working(); }
  };

  // Carrier.
  void dial(PeerId neighbor, ConnectionId connection) override;
  void probe(PeerId neighbor) override;
  void send(ConnectionId connection, const Frame& frame) override;
  void admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) override;
  void finish(ConnectionId connection) override;
  void close(ConnectionId connection) override;
  void wake_at(Time time) override;
  std::string address(PeerId neighbor) const override;
  JobCount work() const override;
  void begin() override;
  void fail(const std::string& why) override;
  void fail_unfit(const std::string& why) override;
  void leave() override { io_.stop(); }
  void say(const std::string& line) override { options_.log(line); }
  void note(LinkEvent event, PeerId neighbor) override {
    if (options_.on_link && !links_->link(neighbor).departed()) options_.on_link(event, neighbor);
  }
  void repeats(PeerId, const Message& message) override {
    repeated_bytes_ += wire::frame_bytes(message);
  }

  void stop_shaping(ConnectionId connection);
  bool crowded(int newest);
  asio::awaitable<void> accept_loop(tcp::acceptor& acceptor);
  asio::awaitable<void> connect(PeerId neighbor, ConnectionId connection);
  asio::awaitable<void> connect_once(PeerId neighbor);
  asio::awaitable<Resolved> resolve(PeerId neighbor);
  void take_address(const PeerAddress& address);
  void take_found(PeerId neighbor, const std::vector<tcp::endpoint>& endpoints);
  asio::awaitable<void> look_up(PeerId neighbor);
  void look_again();
  void open(ConnectionId connection,
            tcp::socket socket,
            TcpConnection::Protection protection,
            bool dialled);
  void take(ConnectionId connection, Frame frame);

  // tcp_carrier.cpp
  bool is_elsewhere(PeerId neighbor) const;
  bool is_protected(PeerId neighbor) const;
  static std::string network_of(const asio::ip::address& address);
  std::size_t neighbors_at(const tcp::endpoint& from) const;
  void check_keys() const;
  std::optional<TcpConnection::Protection> protection_of(PeerId dialled,
                                                         const tcp::socket& socket) const;
  std::optional<TcpConnection::Protection> protection_from(const tcp::socket& visitor,
                                                           std::string& objection);
  std::string ends_to_prove(const tcp::socket& socket, bool dialled) const;
  std::string channel_of(const Connection& connection) const;
  std::string objection(const Connection& connection, const Hello& theirs) const;
  void refuse(ConnectionId connection, const std::string& why);
  void secured(ConnectionId connection);
  std::uint64_t hash_of(const Payload& payload);
  void run_loop();
  void close_all();
  void watch_own_work();
  void beat();
  void fail_compute(std::string why);

  TcpOptions options_;
  asio::io_context io_{1};
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>(options_.memory);
  mutable std::vector<tcp::acceptor> acceptors_;  ///< one for each address to listen at
  Time listening_since_{0};                       ///< stamp()
  asio::steady_timer wake_{io_};
  std::map<PeerId, PeerAddress> addresses_;
  std::map<PeerId, std::set<asio::ip::address>> found_;  ///< addresses of each neighbour's name
  std::optional<Time> looked_;  ///< last look-up of all neighbours' addresses
  /// Address at which a neighbour last answered, until it has proved its identity there: the next
  /// dial tries it last.
  std::map<PeerId, tcp::endpoint> unproven_;
  std::map<PeerId, std::shared_ptr<Dialling>> probing_;
  std::map<ConnectionId, std::shared_ptr<Dialling>> connecting_;
  std::map<ConnectionId, Connection> connections_;
  std::map<PeerId, NeighborClock> clocks_;
  std::optional<LinkLayer> links_;
  std::optional<Shaper> shaper_;
  HandshakeBudget handshakes_;
  std::unique_ptr<SharedEdges> shared_;  ///< null if payloads are always sent
  bool lends_ = false;                   ///< payloads lie in memory that neighbours can read
  LinkUser* user_ = nullptr;
  std::function<void()> begin_;
  bool begun_ = false;
  std::string failure_;
  bool unfit_ = false;  ///< the failure is a neighbour that does not fit
  std::string compute_failure_;
  /// Greatest number seen of descriptors other than connections.
  std::size_t other_descriptors_ = 0;
  std::uint64_t sent_bytes_ = 0, repeated_bytes_ = 0;
  Clock::time_point began_ = Clock::now();
  Standstill standstill_{Time{0}};
  PollingWaits waits_;
  Payload hashed_;  ///< payload of last_hash_, held so that its address is not reused
  std::uint64_t last_hash_ = 0;
  std::array<Work, lanes> work_;  ///< by lane; last member: its jobs use the others
};

}  // namespace gv
