#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {

// How two machines find out at which of its addresses one reaches the other, before any peer is
// there: one listens and answers each caller with a nonce, so that no other machine of the same
// address is taken for it.

class Door {
 public:
  /// Listens. Throws std::runtime_error: the address is taken, or not one of this machine.
  Door(const std::string& address, std::uint16_t port, std::string nonce);
  std::uint16_t port() const { return port_; }
  void answer();  ///< those that have called
  void add_to(std::vector<pollfd>& fds) const {
    for (const Descriptor& socket : sockets_) fds.push_back({socket.get(), POLLIN, 0});
  }

 private:
  std::string nonce_;
  std::vector<Descriptor> sockets_;  ///< one for each address at which it listens
  std::uint16_t port_ = 0;
};

struct Call {
  std::string address;  ///< a name or a number
  std::uint16_t port = 0;
  std::string nonce;
};

/// Calls all of them at once, a name at all of its addresses, for two seconds at most, and answers
/// at our own door meanwhile (null: there is none). Returns for each "" if it answered with its
/// nonce, or why it did not.
std::vector<std::string> answers_of(const std::vector<Call>& calls, Door* own);

// How two machines measure the link between them: one answers, in threads of its own, the other
// asks. The stream counts as it arrives, and its first tenth of a second and 256 KiB not at all (as
// far as that is no more than half of it): what buffers and token buckets take at once is no
// bandwidth.
//
//   asks:    nonce (of who answers) milliseconds:u32, then 21 blocks of 64 bytes, each after the
//            answer to the one before, then a stream of zeros for so long
//   answers: each block as it came, then bytes:u64 nanoseconds:u64 of the stream
//
// Numbers are little endian.

/// A link in one direction.
struct LinkSpeed {
  double latency = 0;    ///< seconds, one way: half of the median round trip of 64 bytes
  double bandwidth = 0;  ///< bytes per second of one TCP stream
  std::string why{};     ///< it could not be measured; "": it was
};

/// Answers whoever asks with the nonce, eight of them at a time, until it is destroyed.
class LinkMeter {
 public:
  /// Listens. Throws std::runtime_error: the address is taken, or not one of this machine.
  LinkMeter(const std::string& address, std::uint16_t port, std::string nonce);
  ~LinkMeter();
  LinkMeter(const LinkMeter&) = delete;
  LinkMeter& operator=(const LinkMeter&) = delete;
  std::uint16_t port() const;

 private:
  struct Answering;
  std::unique_ptr<Answering> answering_;
};

/// Measures the links to all of these, at once, with streams of so many seconds (0.2 to 10).
std::vector<LinkSpeed> speeds_of(const std::vector<Call>& calls, double seconds);

}  // namespace gv
