#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gossip/world.h"
#include "peer/tcp/tcp_frames.h"

namespace gv {

/// How a connection begins: the dialling side says Hello, the accepting side answers with its own
/// or with a Refusal.
struct Handshake {
  std::unique_ptr<TcpFrames> frames;  ///< null: the connection failed
  wire::Hello theirs;                 ///< the other side, as it says
  std::string refusal;                ///< why one side refuses the other; empty: a link
  bool accepted() const { return frames != nullptr && refusal.empty(); }
};

/// The first and the longest pause between two dials.
inline constexpr Time first_redial{std::chrono::milliseconds(20)};
inline constexpr Time slowest_redial{std::chrono::milliseconds(500)};

/// Says Hello on a connected socket and hears the answer of `expected`.
asio::awaitable<Handshake> dial_handshake(asio::ip::tcp::socket socket,
                                          wire::Hello ours,
                                          PeerId expected,
                                          Time deadline,
                                          std::shared_ptr<BufferPool> pool);

/// Hears a stranger's Hello and answers it. `answer` fills in our Hello to it, or says why this
/// peer may not come in; the caller then sends the refusal.
asio::awaitable<Handshake> accept_handshake(
    asio::ip::tcp::socket socket,
    std::function<std::string(const wire::Hello& theirs, wire::Hello& ours)> answer,
    Time deadline,
    std::shared_ptr<BufferPool> pool);

/// Sends the refusal, and waits for the other side to close first: an early close could destroy the
/// reason on its way.
asio::awaitable<void> refuse(Handshake refused, Time deadline, std::shared_ptr<BufferPool> pool);

/// Why `theirs` belongs to another fleet or model than `ours`; empty when it is the same.
std::string disagreement(const wire::Hello& ours, const wire::Hello& theirs);

/// No delay for small frames; on loopback a congestion control that does not hold back
/// (performance: bbr moves less than half of what reno does there).
void tune(asio::ip::tcp::socket& socket);

}  // namespace gv
