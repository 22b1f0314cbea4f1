#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

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

}  // namespace gv
