#include <random>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer/wire/tcp/connecting.h"
#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {
namespace {

constexpr std::size_t most_visitors = 64;
constexpr std::chrono::seconds visit_time{3};
constexpr std::byte ready{1};

/// Returns an abstract name: it begins with a zero byte, has no file, and ends with its process.
std::string address_of(const std::string& door) {
  return std::string(1, '\0') + "grapevine-" + door;
}

/// Returns whether the text is 32 hex digits, which cannot name another program's socket.
bool is_door(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string new_door() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

}  // namespace

bool send_offer(int socket, const Offer& offer, int file) {
  const auto bytes = std::as_bytes(std::span(&offer, 1));
  return send_with_descriptor(socket, bytes, file, MSG_DONTWAIT) == sizeof offer;
}

std::optional<std::pair<Offer, Descriptor>> receive_offer(int socket) {
  Offer offer;
  Descriptor file;
  const auto bytes = std::as_writable_bytes(std::span(&offer, 1));
  const bool whole = receive_with_descriptor(socket, bytes, file) == sizeof offer;
  if (!whole || !file.open() || offer.version != Offer::current) return {};
  return std::pair(offer, std::move(file));
}

bool same_user(int socket) {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == ::geteuid();
}

std::unique_ptr<SharedEdges> SharedEdges::make(asio::io_context& io,
                                               const RegionShape& shape,
                                               Sharing::Options options) {
  std::shared_ptr<MemoryFile> file = MemoryFile::make(shape);
  if (!file) return nullptr;
  options.region = file->region();
  options.reserve = [file](std::uint64_t at, std::uint64_t bytes) {
    return file->reserve(at, bytes);
  };
  std::unique_ptr<SharedEdges> edges(new SharedEdges(io, std::move(file), std::move(options)));
  return edges->listen() ? std::move(edges) : nullptr;
}

SharedEdges::SharedEdges(asio::io_context& io,
                         std::shared_ptr<MemoryFile> file,
                         Sharing::Options options)
    : io_(io), file_(std::move(file)), sharing_(std::move(options)), acceptor_(io) {}

bool SharedEdges::listen() {
  door_ = new_door();
  asio::error_code error;
  acceptor_.open(Local(), error);
  if (!error) close_on_exec(acceptor_.native_handle());
  if (!error) acceptor_.bind(Local::endpoint(address_of(door_)), error);
  if (!error) acceptor_.listen(128, error);
  if (!error) asio::co_spawn(io_, accept_loop(), asio::detached);
  return !error;
}

bool SharedEdges::lock_for(std::shared_ptr<PageLock> device, LockedRegions::Lane lane) {
  locked_.emplace(std::move(device), sharing_.region(), std::move(lane));
  const bool locked = locked_->lock_ours();
  if (!locked) locked_.reset();
  return locked;
}

// ---- Opening an edge.

void SharedEdges::met(PeerId neighbor, const Hello& theirs) {
  if (!sharing_.met(neighbor, theirs.incarnation)) return;
  sockets_.erase(neighbor);
  if (neighbor > sharing_.self() && is_door(theirs.door))
    asio::co_spawn(io_, visit(neighbor, theirs.door), asio::detached);
}

asio::awaitable<void> SharedEdges::visit(PeerId neighbor, std::string door) {
  const auto socket = std::make_shared<Local::socket>(io_);
  asio::error_code closed;
  socket->open(Local(), closed);
  if (closed) co_return;
  close_on_exec(socket->native_handle());
  const auto [error] = co_await socket->async_connect(Local::endpoint(address_of(door)), as_result);
  if (error || !same_user(socket->native_handle()) || !send_ours(socket, neighbor)) co_return;
  const bool answered = co_await readable(socket);
  if (!answered || !take(socket, neighbor)) co_return;
  asio::error_code failure;
  socket->send(asio::buffer(&ready, 1), 0, failure);
  sharing_.open(neighbor);  // it mapped our region before it sent its own
  co_await watch(neighbor, socket);
}

asio::awaitable<void> SharedEdges::accept_loop() {
  while (auto socket = co_await accept_next(acceptor_)) {
    if (visitors_ == most_visitors || !same_user(socket->native_handle())) continue;
    const auto visitor = std::make_shared<Local::socket>(std::move(*socket));
    asio::co_spawn(io_, receive_visit(visitor), asio::detached);
  }
}

asio::awaitable<void> SharedEdges::receive_visit(Socket socket) {
  ++visitors_;
  const bool offered = co_await readable(socket);
  const std::optional<PeerId> from = offered ? take(socket, {}) : std::nullopt;
  bool mapped = from && send_ours(socket, *from);
  if (mapped) mapped = co_await readable(socket);
  --visitors_;
  // replaced by a newer process
  if (!from || sockets_[*from] != socket) co_return;
  std::byte word{};
  asio::error_code failure;
  if (mapped) socket->receive(asio::buffer(&word, 1), 0, failure);
  if (!mapped || failure || word != ready) co_return sharing_.shut(*from);
  sharing_.open(*from);
  co_await watch(*from, socket);
}

asio::awaitable<bool> SharedEdges::readable(Socket socket) {
  asio::steady_timer timer(io_, visit_time);
  timer.async_wait([weak = std::weak_ptr(socket)](const asio::error_code& error) {
    const Socket late = error ? nullptr : weak.lock();
    asio::error_code ignored;
    if (late) late->cancel(ignored);
  });
  const auto [error] = co_await socket->async_wait(Local::socket::wait_read, as_result);
  co_return !error;
}

/// Maps an offered region if it belongs to a process that we have met. Returns its peer.
std::optional<PeerId> SharedEdges::take(const Socket& socket, std::optional<PeerId> expected) {
  const auto received = receive_offer(socket->native_handle());
  if (!received) return {};
  const auto& [offer, file] = *received;
  const PeerId from = offer.peer;
  Region theirs;
  if (from != expected.value_or(from) ||
      !sharing_.fits(from, offer.incarnation, offer.shape(), offer.row) ||
      !map_region(file, offer.shape(), theirs).empty())
    return {};
  if (locked_) locked_->lock(theirs);
  sharing_.take(from, std::move(theirs), offer.row);
  sockets_[from] = socket;
  return from;
}

bool SharedEdges::send_ours(const Socket& socket, PeerId to) {
  const RegionShape& shape = sharing_.region().shape;
  return send_offer(socket->native_handle(),
                    {.incarnation = sharing_.incarnation(),
                     .bytes = shape.bytes,
                     .blocks = shape.blocks,
                     .rows = shape.rows,
                     .peer = sharing_.self(),
                     .row = sharing_.row_of(to)},
                    file_->descriptor());
}

// ---- Closing an edge.

/// Waits for the end of the socket, and so of the process; no more data follow.
asio::awaitable<void> SharedEdges::watch(PeerId neighbor, Socket socket) {
  co_await socket->async_wait(Local::socket::wait_read, as_result);
  if (sockets_[neighbor] == socket) {
    sharing_.shut(neighbor);
    sockets_.erase(neighbor);
  }
}

void SharedEdges::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace gv
