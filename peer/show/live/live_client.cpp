#include "peer/show/live/live_client.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"

namespace gv {
namespace {

constexpr std::size_t most_reply_bytes = 64U << 20;
constexpr int patience_seconds = 5;

/// `place` is the socket of a run, or its address.
[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", place, what));
}

std::string socket_of(const std::string& folder) {
  return folder + "/" + live_socket_name;
}

/// A run that ends while a request waits in its socket resets the connection.
bool has_hung_up(int error) {
  return error == ECONNRESET || error == EPIPE;
}

/// Sends the request and returns the reply; empty if the run ended at that moment.
std::string exchange(const Descriptor& socket,
                     const std::string& place,
                     const std::string& request) {
  const timeval patience{.tv_sec = patience_seconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const ssize_t sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (sent < 0 && has_hung_up(errno)) return {};
  if (sent != static_cast<ssize_t>(request.size())) fail(place, "the run takes no request");
  std::string reply;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count == 0) return reply;
    if (count < 0 && has_hung_up(errno)) return {};
    if (count < 0) fail(place, fmt::format("no answer within {} s", patience_seconds));
    reply.append(buffer.data(), static_cast<std::size_t>(count));
    if (reply.size() > most_reply_bytes) fail(place, "an answer of over 64 MiB");
  }
}

LiveReply parse_reply(const std::string& place, const std::string& text) {
  constexpr std::string_view version = "HTTP/1.1 ";
  const std::size_t body = text.find("\r\n\r\n");
  LiveReply reply;
  if (!text.starts_with(version) || body == std::string::npos) fail(place, "not a run's answer");
  const char* const digits = text.data() + version.size();
  std::from_chars(digits, digits + 3, reply.status);
  reply.body = text.substr(body + 4);
  return reply;
}

JsonValue parse_body(const std::string& place, const LiveReply& reply, int expected) {
  if (reply.status != expected)
    fail(place, fmt::format("the run answers: {}", printable(reply.body, 200)));
  return parse_json(reply.body, place);
}

}  // namespace

std::optional<LiveReply> ask_run(const std::string& folder,
                                 const std::string& method,
                                 const std::string& target) {
  const Descriptor socket = connect_live(folder);
  if (!socket.open()) return std::nullopt;
  const std::string text =
      exchange(socket, socket_of(folder),
               fmt::format("{} {} HTTP/1.1\r\nHost: live\r\n\r\n", method, target));
  if (text.empty()) return std::nullopt;
  return parse_reply(socket_of(folder), text);
}

std::optional<RunView> view_of_run(const std::string& folder) {
  const auto reply = ask_run(folder, "GET", "/state.json");
  if (!reply) return std::nullopt;
  return parse_view(parse_body(socket_of(folder), *reply, 200));
}

std::optional<RunView> view_at(const LiveAddress& address, const std::string& token) {
  const Descriptor socket = connect_to(address);
  if (!socket.open()) return std::nullopt;
  const std::string bearer =
      token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token);
  const std::string text =
      exchange(socket, address.text(),
               fmt::format("GET /state.json HTTP/1.1\r\nHost: {}\r\n{}\r\n",
                           host_port_text(address.host, address.port), bearer));
  if (text.empty()) return std::nullopt;
  const LiveReply reply = parse_reply(address.text(), text);
  if (reply.status == 403)
    fail(address.text(),
         "the run asks for the token of its page\nhelp:  top 'http://ADDRESS:PORT/?token=TOKEN', "
         "as `run --serve` printed it, or --token TOKEN");
  return parse_view(parse_body(address.text(), reply, 200));
}

std::optional<std::uint64_t> order_run(const std::string& folder, const std::string& target) {
  const auto reply = ask_run(folder, "POST", target);
  if (!reply) return std::nullopt;
  return json_integer<std::uint64_t>(parse_body(socket_of(folder), *reply, 202), "order");
}

OrderAnswer order_rounds(const std::string& folder,
                         const std::string& target,
                         std::optional<OrderAnswer> RunView::*kind) {
  const auto order = order_run(folder, target);
  if (!order) fail(folder, "this run is no longer running");
  while (const auto view = view_of_run(folder)) {
    if (const auto& answer = (*view).*kind; answer && answer->order >= *order) {
      if (!answer->refused.empty()) fail(folder, answer->refused);
      return *answer;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail(folder, "the run has just ended");
}

}  // namespace gv
