#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "gossip/seam/message.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

/// Connects to one of a neighbour's addresses: the first that answers (RFC 8305). Tries the next
/// one if an attempt fails or has no answer within a quarter of a second.
class Dialling : public std::enable_shared_from_this<Dialling> {
 public:
  using tcp = asio::ip::tcp;
  explicit Dialling(asio::io_context& io) : io_(io), turn_(io) {}

  /// Returns a connection, or nothing if all attempts have failed (failure) or after close().
  asio::awaitable<std::optional<tcp::socket>> connect(std::vector<tcp::endpoint> addresses);
  /// Cancels all attempts.
  void close();

  asio::error_code failure() const { return failure_; }  ///< reason of the latest failed attempt
  /// Returns whether no process listens at the neighbour's port any more: an address has refused,
  /// and so has every other address with a route from here. An address that does not answer may
  /// belong to a living neighbour.
  bool nobody_listens() const;

 private:
  void begin(std::size_t place);
  void end(std::size_t place, const asio::error_code& error);

  asio::io_context& io_;
  asio::steady_timer turn_;  ///< until the next address is tried; cancelled when an attempt ends
  std::vector<tcp::endpoint> addresses_;
  std::vector<std::shared_ptr<tcp::socket>> sockets_;  ///< one per attempt; null after its failure
  std::optional<tcp::socket> connected_;
  std::size_t under_way_ = 0, refused_ = 0, without_a_way_ = 0;
  asio::error_code failure_;
  bool closed_ = false;
};

/// Makes an Asio operation return its result as a tuple that begins with the error code, instead of
/// throwing.
inline constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

/// Returns the next incoming connection, or nothing if the acceptor was closed. If the system is
/// out of descriptors, waits until some are free.
template <typename Acceptor>
asio::awaitable<std::optional<typename Acceptor::protocol_type::socket>> accept_next(
    Acceptor& acceptor) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (!error) {
      close_on_exec(socket.native_handle());
      co_return std::move(socket);
    }
    if (error == asio::error::operation_aborted) co_return std::nullopt;
    asio::steady_timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
    co_await pause.async_wait(as_result);
  }
}

/// Limits the handshakes that strangers can cause, because one costs us more than the stranger: 1
/// to 1.5 ms of a core, mostly for X.509. A neighbour's own address has a separate allowance. A
/// one-second window begins with the first handshake after the previous window. Invariant: in each
/// window at most `of_all` handshakes begin for addresses that are not a neighbour's, and at most
/// `of_one` for one address on another machine, or for each neighbour at that address.
class HandshakeBudget {
 public:
  static constexpr std::size_t of_all = 50;
  static constexpr std::size_t of_one = 10;

  struct Source {
    std::string address;
    std::size_t neighbors = 0;  ///< number of neighbours at this address
    bool is_here = false;  ///< the address is on this machine, where all our peers may share it
  };
  /// Returns whether one more handshake may begin, and counts it. If false, the caller hangs up
  /// without an answer.
  bool spend(const Source& source, Time now);

 private:
  Time window_{0};  ///< start of the current window
  std::size_t spent_ = 0;
  std::map<std::string, std::size_t> spent_by_;  ///< at most of_all entries, and the neighbours'
};

}  // namespace gv
