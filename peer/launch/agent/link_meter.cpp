#include "peer/launch/agent/link_meter.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto answer_patience = std::chrono::seconds(2);

/// One call under way, at one address.
struct Try {
  std::size_t call = 0;
  std::string address;  ///< numeric; "" if the name has none
  Descriptor socket{};
  std::string heard{};
  std::string why = "answers nothing: does something drop the packets (a firewall)?";
  bool open() const { return socket.open(); }
  void end(std::string reason) {
    why = std::move(reason);
    socket.close();
  }
};

std::vector<Try> tries_of(const std::vector<Call>& calls) {
  std::vector<Try> tries;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    std::vector<SocketAddress> addresses;
    try {
      addresses = addresses_of(calls[k].address, calls[k].port);
    } catch (const std::runtime_error& unknown) {
      tries.push_back({.call = k, .address = ""});
      tries.back().end(unknown.what());
    }
    for (const SocketAddress& address : addresses) {
      Try& attempt = tries.emplace_back(Try{.call = k, .address = address.host()});
      try {
        attempt.socket = connecting_socket(address);
      } catch (const std::runtime_error& failed) {
        attempt.end(failed.what());
      }
    }
  }
  return tries;
}

/// A call is answered if one of its addresses has answered. Otherwise every address has a reason.
std::vector<std::string> answers_in(const std::vector<Try>& tries, std::size_t calls) {
  std::vector<std::string> answers(calls);
  std::vector<bool> answered(calls, false);
  for (const Try& attempt : tries) {
    const bool several = std::ranges::count(tries, attempt.call, &Try::call) > 1;
    std::string& text = answers[attempt.call];
    if (!text.empty()) text += "; ";
    text += several ? attempt.address + " " + attempt.why : attempt.why;
    if (attempt.why.empty()) answered[attempt.call] = true;
  }
  for (std::size_t k = 0; k < calls; ++k)
    if (answered[k]) answers[k].clear();
  return answers;
}

void hear(Try& attempt, const std::string& nonce) {
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(attempt.socket.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count < 0) return attempt.end(std::strerror(errno));
  attempt.heard.append(buffer.data(), static_cast<std::size_t>(count));
  const bool whole = attempt.heard.size() >= nonce.size();
  if (attempt.heard == nonce) return attempt.end("");
  if (count == 0 || whole) attempt.end("another machine or program answers there");
}

using Bytes = std::span<std::byte>;
static_assert(std::endian::native == std::endian::little, "numbers go as they lie in memory");

constexpr std::size_t block_bytes = 64;
constexpr std::size_t blocks = 21;
constexpr auto patience = std::chrono::seconds(5);  // for each part of the protocol
constexpr auto settling = std::chrono::milliseconds(100);
constexpr std::uint64_t settling_bytes = 256 * 1024;  // for a token bucket at each end
constexpr std::uint32_t most_milliseconds = 10'000;

/// The part of a stream that was counted as it arrived.
struct Arrived {
  std::uint64_t bytes = 0;
  std::uint64_t nanoseconds = 0;
};

/// Throws std::runtime_error at `until`.
void await(const Descriptor& socket, short events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd fd{socket.get(), events, 0};
  if (left <= 0 || ::poll(&fd, 1, static_cast<int>(left)) <= 0)
    throw std::runtime_error("it answers nothing");
}

/// Reads the available bytes; returns 0 if there are none. Throws std::runtime_error at the end.
std::size_t read_some(const Descriptor& socket, Bytes bytes) {
  const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  if (count > 0) return static_cast<std::size_t>(count);
  if (count == 0) throw std::runtime_error("it has ended the connection");
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw std::runtime_error(std::strerror(errno));
}

std::size_t write_some(const Descriptor& socket, std::span<const std::byte> bytes) {
  const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno == EAGAIN || errno == EINTR) return 0;
  throw std::runtime_error(std::strerror(errno));
}

void read_all(const Descriptor& socket, Bytes bytes) {
  const Clock::time_point until = Clock::now() + patience;
  while (!bytes.empty()) {
    await(socket, POLLIN, until);
    bytes = bytes.subspan(read_some(socket, bytes));
  }
}

void write_all(const Descriptor& socket, std::span<const std::byte> bytes) {
  const Clock::time_point until = Clock::now() + patience;
  while (!bytes.empty()) {
    await(socket, POLLOUT, until);
    bytes = bytes.subspan(write_some(socket, bytes));
  }
}

void send_at_once(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Counts the bytes that arrive in this time, once the stream has settled or half the time is over.
Arrived take_stream(const Descriptor& socket, std::chrono::milliseconds length) {
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  await(socket, POLLIN, Clock::now() + 2 * patience);  // others may still be at their pings
  const Clock::time_point began = Clock::now();
  const Clock::time_point earliest = began + std::min<Clock::duration>(settling, length / 2);
  const Clock::time_point latest = began + length / 2;
  Arrived arrived;
  std::uint64_t before = 0;
  Clock::time_point first{}, last{};
  while (Clock::now() < began + length) {
    await(socket, POLLIN, began + length + patience);
    const std::size_t count = read_some(socket, buffer);
    last = Clock::now();
    if (last < earliest || (last < latest && before < settling_bytes)) {
      before += count;
      continue;
    }
    if (first == Clock::time_point{}) {
      first = last;
    } else {
      arrived.bytes += count;
    }
  }
  arrived.nanoseconds = static_cast<std::uint64_t>(std::chrono::nanoseconds(last - first).count());
  return arrived;
}

/// Answers one caller. Throws std::runtime_error if it does not follow the protocol.
void answer(const Descriptor& socket, const std::string& nonce) {
  std::vector<std::byte> given(nonce.size());
  read_all(socket, given);
  if (std::memcmp(given.data(), nonce.data(), nonce.size()) != 0) return;
  std::uint32_t length = 0;
  read_all(socket, std::as_writable_bytes(std::span(&length, 1)));
  if (length > most_milliseconds) return;
  std::array<std::byte, block_bytes> block{};
  for (std::size_t k = 0; k < blocks; ++k) {
    read_all(socket, block);
    write_all(socket, block);
  }
  const Arrived arrived = take_stream(socket, std::chrono::milliseconds(length));
  write_all(socket, std::as_bytes(std::span(&arrived, 1)));
  // Closing with bytes unread would reset the connection before this answer is read.
  const Clock::time_point until = Clock::now() + patience;
  std::array<std::byte, 65536> rest;
  while (true) {
    await(socket, POLLIN, until);
    read_some(socket, rest);
  }
}

double median_round_trip(const Descriptor& socket) {
  std::array<std::byte, block_bytes> block{};
  std::vector<double> trips;
  for (std::size_t k = 0; k < blocks; ++k) {
    const Clock::time_point began = Clock::now();
    write_all(socket, block);
    read_all(socket, block);
    trips.push_back(std::chrono::duration<double>(Clock::now() - began).count());
  }
  std::ranges::nth_element(trips, trips.begin() + trips.size() / 2);
  return trips[trips.size() / 2];
}

/// Sends until the other end has counted enough; returns its count.
Arrived send_stream(const Descriptor& socket, std::chrono::milliseconds length) {
  const std::vector<std::byte> zeros(std::size_t{1} << 18);
  const Clock::time_point until = Clock::now() + length + patience;
  Arrived arrived;
  const Bytes answer = std::as_writable_bytes(std::span(&arrived, 1));
  std::size_t heard = 0;
  while (heard < answer.size()) {
    if (Clock::now() > until)
      throw std::runtime_error("its answer has no count of the bytes received");
    pollfd fd{socket.get(), POLLIN | POLLOUT, 0};
    if (heard > 0) fd.events = POLLIN;
    ::poll(&fd, 1, 100);
    if ((fd.revents & (POLLIN | POLLHUP | POLLERR)) != 0)
      heard += read_some(socket, answer.subspan(heard));
    else if ((fd.revents & POLLOUT) != 0)
      write_some(socket, zeros);
  }
  return arrived;
}

/// Drops bytes still on the way when the stream has been counted: they would disturb the next.
void drop_when_closed(const Descriptor& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/// Returns the connection, after measuring its latency.
Descriptor pinged(const Call& call, std::uint32_t length, LinkSpeed& speed) {
  constexpr int patience_ms = std::chrono::milliseconds(patience).count();
  Descriptor socket = connected_socket(call.address, call.port, patience_ms);
  send_at_once(socket);
  drop_when_closed(socket);
  write_all(socket, std::as_bytes(std::span(call.nonce)));
  write_all(socket, std::as_bytes(std::span(&length, 1)));
  speed.latency = median_round_trip(socket) / 2;
  return socket;
}

/// The streams of several links begin together, after the pings of all.
LinkSpeed speed_of(const Call& call, std::uint32_t length, std::barrier<>& all) {
  LinkSpeed speed;
  bool waits = true;
  try {
    const Descriptor socket = pinged(call, length, speed);
    waits = false;
    all.arrive_and_wait();
    const Arrived arrived = send_stream(socket, std::chrono::milliseconds(length));
    if (arrived.bytes == 0 || arrived.nanoseconds == 0)
      throw std::runtime_error("too little came to measure it");
    speed.bandwidth =
        static_cast<double>(arrived.bytes) / (static_cast<double>(arrived.nanoseconds) * 1e-9);
  } catch (const std::runtime_error& failed) {
    if (waits) all.arrive_and_drop();
    speed.why = failed.what();
  }
  return speed;
}

}  // namespace

MeasuringListener::MeasuringListener(const std::string& address,
                                     std::uint16_t port,
                                     std::string nonce)
    : nonce_(std::move(nonce)),
      sockets_(listening_sockets(address, port)),
      port_(address_of_socket(sockets_.front().get()).port()) {}

void MeasuringListener::answer() {
  for (const Descriptor& socket : sockets_)
    while (true) {
      const Descriptor caller(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!caller.open()) break;
      // A few bytes always fit into a new connection.
      const ssize_t sent = ::send(caller.get(), nonce_.data(), nonce_.size(), MSG_NOSIGNAL);
      if (sent < 0) continue;
    }
}

std::vector<std::string> answers_of(const std::vector<Call>& calls, MeasuringListener* own) {
  std::vector<Try> tries = tries_of(calls);
  const Clock::time_point until = Clock::now() + answer_patience;
  while (std::ranges::any_of(tries, &Try::open) && Clock::now() < until) {
    std::vector<pollfd> fds;
    for (const Try& attempt : tries) fds.push_back({attempt.socket.get(), POLLIN, 0});
    if (own != nullptr) own->add_to(fds);
    ::poll(fds.data(), fds.size(), 50);
    if (own != nullptr) own->answer();
    for (std::size_t k = 0; k < tries.size(); ++k)
      if (fds[k].fd >= 0 && fds[k].revents != 0) hear(tries[k], calls[tries[k].call].nonce);
  }
  return answers_in(tries, calls.size());
}

struct LinkMeter::Answering {
  void answer_all(const std::stop_token& stop) {
    constexpr std::size_t most_at_a_time = 8;
    constexpr int look_ms = 50;
    std::vector<std::future<void>> at_work;
    while (!stop.stop_requested()) {
      std::erase_if(at_work, [](const std::future<void>& each) {
        return each.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      });
      const bool full = at_work.size() >= most_at_a_time;
      std::vector<pollfd> fds;
      for (const Descriptor& each : listening) fds.push_back({full ? -1 : each.get(), POLLIN, 0});
      if (::poll(fds.data(), fds.size(), look_ms) <= 0) continue;
      for (const pollfd& fd : fds) {
        if (fd.revents == 0) continue;
        Descriptor caller(::accept4(fd.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (caller.open())
          at_work.push_back(std::async(std::launch::async, answer_one, std::move(caller), nonce));
      }
    }
  }

  static void answer_one(const Descriptor& caller, const std::string& nonce) {
    try {
      send_at_once(caller);
      answer(caller, nonce);
    } catch (const std::runtime_error&) {  // the caller sees that nothing comes
    }
  }

  std::string nonce;
  std::vector<Descriptor> listening;  ///< one for each address
  std::jthread accepting{};
};

LinkMeter::LinkMeter(const std::string& address, std::uint16_t port, std::string nonce)
    : answering_(
          new Answering{.nonce = std::move(nonce), .listening = listening_sockets(address, port)}) {
  answering_->accepting =
      std::jthread([this](const std::stop_token& stop) { answering_->answer_all(stop); });
}

LinkMeter::~LinkMeter() = default;

std::uint16_t LinkMeter::port() const {
  return address_of_socket(answering_->listening.front().get()).port();
}

std::vector<LinkSpeed> speeds_of(const std::vector<Call>& calls, double seconds) {
  std::vector<LinkSpeed> speeds(calls.size());
  const auto length = static_cast<std::uint32_t>(std::lround(std::clamp(seconds, 0.2, 10.0) * 1e3));
  std::barrier all(static_cast<std::ptrdiff_t>(calls.size()));
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < calls.size(); ++k)
    threads.emplace_back([&, k] { speeds[k] = speed_of(calls[k], length, all); });
  threads.clear();  // waits for the threads
  return speeds;
}

}  // namespace gv
