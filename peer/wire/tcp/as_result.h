#pragma once

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

namespace gv {

/// Makes an operation of Asio give back what it ended with as a tuple whose first member is the
/// error code; nothing is thrown.
inline constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace gv
