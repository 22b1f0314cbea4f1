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

#include "peer/wire/tcp/named_socket.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::span<std::byte>;
static_assert(std::endian::native == std::endian::little, "numbers go as they lie in memory");

constexpr std::size_t block_bytes = 64;
constexpr std::size_t blocks = 21;
constexpr auto patience = std::chrono::seconds(5);  // for each part of the form
constexpr auto settling = std::chrono::milliseconds(100);
constexpr std::uint64_t settling_bytes = 256 * 1024;  // of token buckets, one at each end say
constexpr std::uint32_t most_milliseconds = 10'000;

/// The part of a stream that was counted as it arrived.
struct Arrived {
  std::uint64_t bytes = 0;
  std::uint64_t nanoseconds = 0;
};

/// Throws std::runtime_error when it is too late.
void await(const Descriptor& socket, short events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd fd{socket.get(), events, 0};
  if (left <= 0 || ::poll(&fd, 1, static_cast<int>(left)) <= 0)
    throw std::runtime_error("it answers nothing");
}

/// Reads what is there now; 0: nothing. Throws std::runtime_error at the end.
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

/// Counts what arrives in this time, from when it has settled, or half of the time is over.
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

/// One who asks. Throws std::runtime_error where it does not keep to the form.
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

/// Sends until the other has counted enough; what it counted.
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

/// Drops what is still on its way when the stream has been counted: it would disturb the next.
void drop_when_closed(const Descriptor& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/// The connection, when its latency is known.
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
    } catch (const std::runtime_error&) {  // whoever asks sees that nothing comes
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
  threads.clear();  // which waits for them
  return speeds;
}

}  // namespace gv
