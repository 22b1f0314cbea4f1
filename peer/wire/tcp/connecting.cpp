#include "peer/wire/tcp/connecting.h"

#include <algorithm>

#include "peer/wire/socket/named_socket.h"
#include "peer/wire/tcp/tcp_connection.h"

namespace gv {
namespace {

/// Returns whether this machine has no route to the address, which is no fault of the neighbour.
bool is_without_a_way(const asio::error_code& error) {
  return error == asio::error::network_unreachable ||
         error == asio::error::address_family_not_supported ||
         error == asio::error_code(EADDRNOTAVAIL, asio::system_category());
}

}  // namespace

asio::awaitable<std::optional<Dialling::tcp::socket>> Dialling::connect(
    std::vector<tcp::endpoint> addresses) {
  constexpr std::chrono::milliseconds longest(next_address_ms);
  constexpr std::chrono::milliseconds for_all(2000);  // less than the three seconds of a handshake
  const auto own = shared_from_this();
  addresses_ = std::move(addresses);
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, addresses_.size()));
  const std::chrono::milliseconds pause = std::min(longest, for_all / count);
  while (!closed_ && !connected_ && (under_way_ > 0 || sockets_.size() < addresses_.size())) {
    const bool more = sockets_.size() < addresses_.size();
    if (more) begin(sockets_.size());
    if (more && under_way_ == 0) continue;
    if (sockets_.size() < addresses_.size())
      turn_.expires_after(pause);
    else
      turn_.expires_at(asio::steady_timer::time_point::max());
    co_await turn_.async_wait(as_result);
  }
  std::optional<tcp::socket> found = closed_ ? std::nullopt : std::exchange(connected_, {});
  close();
  co_return found;
}

void Dialling::begin(std::size_t place) {
  const tcp::endpoint& there = addresses_[place];
  const auto socket = std::make_shared<tcp::socket>(io_);
  sockets_.push_back(socket);
  ++under_way_;
  asio::error_code error;
  socket->open(there.protocol(), error);
  if (error) return end(place, error);
  close_on_exec(socket->native_handle());
  tune_for(there.address(), socket->native_handle());
  socket->async_connect(there, [own = shared_from_this(), place](const asio::error_code& outcome) {
    own->end(place, outcome);
  });
}

void Dialling::end(std::size_t place, const asio::error_code& error) {
  if (closed_) return;
  --under_way_;
  const std::shared_ptr<tcp::socket> socket = std::exchange(sockets_[place], nullptr);
  if (!error && !connected_) {
    connected_ = std::move(*socket);
  } else if (error) {
    failure_ = error;
    if (error == asio::error::connection_refused) ++refused_;
    if (is_without_a_way(error)) ++without_a_way_;
  }
  turn_.cancel();
}

void Dialling::close() {
  closed_ = true;
  asio::error_code ignored;
  for (const auto& socket : sockets_)
    if (socket) socket->close(ignored);
  connected_.reset();
  turn_.cancel();
}

bool Dialling::nobody_listens() const {
  return refused_ > 0 && refused_ + without_a_way_ == addresses_.size();
}

bool HandshakeBudget::spend(const Source& source, Time now) {
  if (now - window_ >= std::chrono::seconds(1)) {
    window_ = now;
    spent_ = 0;
    spent_by_.clear();
  }
  const bool counts_for_all = source.neighbors == 0;
  if (counts_for_all && spent_ >= of_all) return false;
  if (!source.is_here) {
    std::size_t& spent = spent_by_[source.address];
    if (spent >= of_one * std::max<std::size_t>(1, source.neighbors)) return false;
    ++spent;
  }
  if (counts_for_all) ++spent_;
  return true;
}

}  // namespace gv
