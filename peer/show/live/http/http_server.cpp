#include "peer/show/live/http/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "peer/wire/tcp/connecting.h"

namespace gv::http {
namespace {

/// Compares in a time that does not depend on the place of the first wrong digit.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[k] ^ b[k]));
  return difference == 0;
}

bool is_ours(const Access& access, const Request& request) {
  const std::string* const host = request.header("host");
  if (host == nullptr) return false;
  std::string name = *host;
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(access.hosts, name) != access.hosts.end();
}

bool has_bearer(const Access& access, const Request& request) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string* const header = request.header("authorization");
  return header != nullptr && header->starts_with(scheme) &&
         same_secret(std::string_view(*header).substr(scheme.size()), access.token);
}

bool has_cookie(const Access& access, const Request& request) {
  const std::string* const header = request.header("cookie");
  if (header == nullptr) return false;
  const auto value = cookie_value(*header, access.cookie);
  return value && same_secret(*value, access.token);
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

using Protocol = asio::generic::stream_protocol;
using Socket = Protocol::socket;

constexpr auto request_time = std::chrono::seconds(5);
constexpr auto parting_time = std::chrono::seconds(1);
constexpr auto between_events = std::chrono::milliseconds(100);
constexpr auto between_signs_of_life = std::chrono::seconds(10);
constexpr auto farewell_time = std::chrono::milliseconds(300);
constexpr std::size_t most_left_over = 64 * 1024;  ///< bytes read after the answer

/// One connection: reads a head, answers, closes. The objects it shares with the server outlive it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Socket socket, const Access& access, const Server::Handler& handler, const bool& closing)
      : socket_(std::move(socket)),
        deadline_(socket_.get_executor()),
        access_(access),
        handler_(handler),
        closing_(closing) {}

  asio::awaitable<void> serve() {
    allow(request_time);
    std::string head;
    const int status = co_await read_head(head);
    if (status != 0) {
      const Answer answer =
          status == 200 ? answer_to(head) : refusal(status, "the head is over 8 KiB");
      allow(request_time);
      const bool sent = co_await send(text_of(answer));
      if (sent && answer.stream) co_await follow(answer.stream);
      co_await part();
    }
    deadline_.cancel();  // its handler keeps the session, and so the connection
    asio::error_code ignored;
    socket_.close(ignored);
  }

 private:
  /// Closes the connection if the next step takes longer than `time`.
  void allow(std::chrono::steady_clock::duration time) {
    deadline_.expires_after(time);
    deadline_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (error || self->deadline_.expiry() > std::chrono::steady_clock::now()) return;
      asio::error_code ignored;
      self->socket_.close(ignored);
    });
  }

  /// Returns 200 after the empty line, 431 if the head is too long, 0 if the client disconnected.
  asio::awaitable<int> read_head(std::string& head) {
    std::array<char, 2048> buffer{};
    for (;;) {
      const auto [error, count] = co_await socket_.async_read_some(asio::buffer(buffer), as_result);
      if (error) co_return 0;
      const std::size_t seen = head.size() < 3 ? 0 : head.size() - 3;
      head.append(buffer.data(), count);
      const std::size_t end = head.find("\r\n\r\n", seen);
      if (end != std::string::npos && end + 4 <= most_head_bytes) {
        head.resize(end + 4);
        co_return 200;
      }
      if (head.size() > most_head_bytes) co_return 431;
    }
  }

  Answer answer_to(const std::string& head) const {
    const Parsed parsed = parse_request(head);
    if (parsed.status != 200) return refusal(parsed.status, parsed.why);
    const Admission admission = admit(access_, parsed.request);
    if (admission.status != 200) return refusal(admission.status, admission.why);
    if (parsed.request.method != "GET" && !access_.control)
      return refusal(405, "nothing can be changed from here: GET only");
    Answer answer = handler_(parsed.request, access_);
    if (admission.keep_cookie) answer.headers.push_back(cookie_header(access_));
    return answer;
  }

  asio::awaitable<bool> send(std::string text) {
    const auto [error, count] = co_await asio::async_write(socket_, asio::buffer(text), as_result);
    co_return !error;
  }

  asio::awaitable<void> follow(const Answer::Source& source) {
    asio::steady_timer pause(socket_.get_executor());
    auto last = std::chrono::steady_clock::now();
    for (;;) {
      const bool ends = closing_;
      std::optional<std::string> text = source();
      const auto now = std::chrono::steady_clock::now();
      if (text && text->empty() && now - last >= between_signs_of_life) *text = ": here\n\n";
      if (text && !text->empty()) {
        last = now;
        allow(request_time);
        const bool sent = co_await send(std::move(*text));
        if (!sent) co_return;
      }
      if (!text || ends) co_return;
      deadline_.cancel();
      pause.expires_after(between_events);
      co_await pause.async_wait(as_result);
    }
  }

  /// Reads what the client still sends: closing with unread bytes would discard the answer (RST).
  asio::awaitable<void> part() {
    allow(parting_time);
    asio::error_code error;
    socket_.shutdown(Socket::shutdown_send, error);
    std::array<char, 4096> buffer{};
    for (std::size_t left = 0; !error && left < most_left_over && !closing_;) {
      const auto [failed, count] =
          co_await socket_.async_read_some(asio::buffer(buffer), as_result);
      error = failed;
      left += count;
    }
    socket_.close(error);
  }

  Socket socket_;
  asio::steady_timer deadline_;
  const Access& access_;
  const Server::Handler& handler_;
  const bool& closing_;
};

/// Blocks all signals, for a thread started in its scope: the other threads take them.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Admission admit(const Access& access, const Request& request) {
  if (access.control) return {};
  if (!is_ours(access, request))
    return {.status = 403, .why = "Host is not the address that this run listens on"};
  if (access.token.empty()) return {};
  const auto given = query_value(request.query, "token");
  if (given && same_secret(*given, access.token)) return {.keep_cookie = true};
  if (has_bearer(access, request) || has_cookie(access, request)) return {};
  return {.status = 403,
          .why =
              "the token is missing or wrong: open the address that grapevine run has printed, "
              "or send Authorization: Bearer TOKEN"};
}

std::string cookie_header(const Access& access) {
  return fmt::format("Set-Cookie: {}={}; Path=/; SameSite=Strict; HttpOnly", access.cookie,
                     access.token);
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the system gives no random bytes for a token");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Answer refusal(int status, std::string_view why) {
  Answer answer{.status = status, .body = fmt::format("{}\n", why)};
  if (status == 405) answer.headers.emplace_back("Allow: GET");
  return answer;
}

std::string text_of(const Answer& answer) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n",
      answer.status, reason_of(answer.status), answer.type);
  // A stream's end is the end of the connection (RFC 9112, section 6.3).
  if (!answer.stream) text += fmt::format("Content-Length: {}\r\n", answer.body.size());
  for (const std::string& header : answer.headers) text += header + "\r\n";
  return text + "\r\n" + answer.body;
}

class Server::Impl {
 public:
  Impl(std::vector<Listener> listeners, Handler handler) : handler_(std::move(handler)) {
    for (Listener& listener : listeners) {
      gates_.push_back(
          std::make_unique<Gate>(asio::posix::stream_descriptor(io_, listener.socket.release()),
                                 std::move(listener.access)));
    }
    for (const auto& gate : gates_) asio::co_spawn(io_, accept(*gate), asio::detached);
    const WithoutSignals inherited;
    thread_ = std::thread([this] { io_.run(); });
    ::pthread_setname_np(thread_.native_handle(), "live");
  }

  ~Impl() {
    asio::post(io_, [this] {
      closing_ = true;
      asio::error_code ignored;
      for (const auto& gate : gates_) gate->listening.close(ignored);
      farewell_.expires_after(farewell_time);
      farewell_.async_wait([this](const asio::error_code&) { io_.stop(); });
      if (open() == 0) io_.stop();
    });
    thread_.join();
  }

 private:
  struct Gate {
    Gate(asio::posix::stream_descriptor socket, Access who)
        : listening(std::move(socket)), access(std::move(who)) {}
    asio::posix::stream_descriptor listening;
    Access access;
    int open = 0;
  };

  int open() const {
    int all = 0;
    for (const auto& gate : gates_) all += gate->open;
    return all;
  }

  /// Accepts with accept4(2) (SOCK_CLOEXEC), so that a peer started meanwhile inherits no socket.
  asio::awaitable<void> accept(Gate& gate) {
    constexpr auto when_none_is_left = std::chrono::milliseconds(100);
    for (;;) {
      const auto [error] =
          co_await gate.listening.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
      if (error) co_return;
      const int fd =
          ::accept4(gate.listening.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        admit_one(gate, Descriptor(fd));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        asio::steady_timer pause(io_, when_none_is_left);
        co_await pause.async_wait(as_result);
      }
    }
  }

  void admit_one(Gate& gate, Descriptor fd) {
    if (gate.open >= most_connections) {
      const std::string full = text_of(refusal(503, "32 connections are open already"));
      ::send(fd.get(), full.data(), full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return;
    }
    Socket socket(io_);
    asio::error_code error;
    socket.assign(Protocol(gate.access.control ? AF_UNIX : AF_INET, 0), fd.get(), error);
    if (error) return;
    fd.release();
    ++gate.open;
    const auto session =
        std::make_shared<Session>(std::move(socket), gate.access, handler_, closing_);
    asio::co_spawn(io_, serve(gate, session), asio::detached);
  }

  asio::awaitable<void> serve(Gate& gate, std::shared_ptr<Session> session) {
    try {
      co_await session->serve();
    } catch (const std::exception&) {  // no memory: drop the connection, keep the fleet
    }
    --gate.open;
    if (closing_ && open() == 0) io_.stop();
  }

  Handler handler_;
  bool closing_ = false;
  asio::io_context io_{1};
  std::vector<std::unique_ptr<Gate>> gates_;
  asio::steady_timer farewell_{io_};
  std::thread thread_;
};

Server::Server(std::vector<Listener> listeners, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(listeners), std::move(handler))) {}

Server::~Server() = default;

}  // namespace gv::http
