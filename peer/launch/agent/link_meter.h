#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "peer/wire/socket/descriptor.h"

namespace gv {

// The test by which a machine finds an address that reaches another one, before there are peers:
// one listens and answers each caller with a nonce, so that no other machine with the same address
// is taken for it.

class MeasuringListener {
 public:
  /// Listens. Throws std::runtime_error if the address is taken or not one of this machine.
  MeasuringListener(const std::string& address, std::uint16_t port, std::string nonce);
  std::uint16_t port() const { return port_; }
  void answer();  ///< answers waiting callers
  void add_to(std::vector<pollfd>& fds) const {
    for (const Descriptor& socket : sockets_) fds.push_back({socket.get(), POLLIN, 0});
  }

 private:
  std::string nonce_;
  std::vector<Descriptor> sockets_;  ///< one for each address
  std::uint16_t port_ = 0;
};

struct Call {
  std::string address;  ///< a name or a number
  std::uint16_t port = 0;
  std::string nonce;
};

/// Makes all calls at once, a name at all its addresses, for at most two seconds, and answers at
/// our own door in that time if `own` is not null. Returns "" for each call that was answered with
/// its nonce, else the reason.
std::vector<std::string> answers_of(const std::vector<Call>& calls, MeasuringListener* own);

// The measurement of a link between two machines: one asks, the other answers in threads of its
// own. The stream is counted on arrival. Its first tenth of a second and first 256 KiB do not count
// (at most half of the stream): what buffers and token buckets take at once is no bandwidth.
//
//   asks:    nonce (of the other) milliseconds:u32, then 21 blocks of 64 bytes, each after the
//            answer to the one before, then a stream of zeros for that time
//   answers: each block as it came, then bytes:u64 nanoseconds:u64 of the stream
//
// Numbers are little endian.

/// A link in one direction.
struct LinkSpeed {
  double latency = 0;    ///< seconds, one way: half of the median round trip of 64 bytes
  double bandwidth = 0;  ///< bytes per second of one TCP stream
  std::string why{};     ///< reason if it could not be measured, else ""
};

/// Answers callers with the right nonce, eight at a time, until it is destroyed.
class LinkMeter {
 public:
  /// Listens. Throws std::runtime_error if the address is taken or not one of this machine.
  LinkMeter(const std::string& address, std::uint16_t port, std::string nonce);
  ~LinkMeter();
  LinkMeter(const LinkMeter&) = delete;
  LinkMeter& operator=(const LinkMeter&) = delete;
  std::uint16_t port() const;

 private:
  struct Answering;
  std::unique_ptr<Answering> answering_;
};

/// Measures the links to all calls at once, with streams of this duration (0.2 to 10 seconds).
std::vector<LinkSpeed> speeds_of(const std::vector<Call>& calls, double seconds);

}  // namespace gv
