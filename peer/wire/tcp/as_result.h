#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "peer/wire/lend/descriptor.h"

namespace gv {

/// Makes an operation of Asio give back what it ended with as a tuple whose first member is the
/// error code; nothing is thrown.
inline constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

/// The next visitor; nothing: the acceptor was closed. Where the system has no descriptor left, it
/// waits until some are free again.
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

}  // namespace gv
