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

}  // namespace gv
