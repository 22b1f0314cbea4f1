#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "gossip/seam/message.h"
#include "graph/topology/topology.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

// Protocol between a launcher and its agent on another machine, over the standard streams of the
// command that started the agent (ssh):
//
//   stream := noise hello frame*     noise: what a shell's start-up files print, at most 64 KiB
//   hello  := "grapevine-agent 1 " nonce "\n"       from the agent; the launcher gave the nonce
//   frame  := length:u32 kind:u8 peer:u32 body      little endian; length counts all that follows
//
// Bodies are JSON, but for lines (text), pieces of vectors and of files (bytes).

enum class AgentKind : std::uint8_t {
  facts = 1,  ///< agent: properties of its machine (facts.h); its first frame
  door,       ///< launcher: listen at {address, port} and answer each caller with {nonce}
  opened,     ///< agent: {port}, or {error}
  call,       ///< launcher: {calls: [{address, port, nonce}]}: call these, expect the nonce
  called,     ///< agent: {answers: ["" | why not]}, in the order of the calls
  shut,       ///< launcher: close the door
  look,       ///< launcher: {paths: [...], devices: true}: report the data there, and the devices
  looked,     ///< agent: {data: [null | [{name, bytes, digest}]], free_bytes, devices}, or {error}
  file,       ///< a piece of a file below the run's folder; both ways
  start,      ///< launcher: {args: [...], most_vector_bytes}: start peer `peer`
  started,    ///< agent: {pid}, or {error}
  tell,       ///< launcher: a line to a peer's stdin
  output,     ///< agent: a line of a peer's stdout
  errors,     ///< agent: a line of its stderr
  vector,     ///< agent: a piece of a report's vector: last:u8 bytes
  ended,      ///< agent: {ending}
  signal,     ///< launcher: {signal}
  fetch,      ///< launcher: send the files that the peers have left
  fetched,    ///< agent: all files are sent: {error}, "" or what could not be read
  ping,       ///< both ways; a sign of life, as each frame is
  leave,      ///< launcher: {keep}: end, and delete the run's folder unless `keep`
  meter,      ///< launcher: as `door`, for agents that measure their links to here (link_meter.h)
  measure,    ///< launcher: {calls: as for `call`, seconds}: measure the links to all at once
  measured,   ///< agent: {links: [{latency, bandwidth} | {error}]}, in the order of the calls
  failed,     ///< agent: why it ends (text); its last frame
};

struct AgentFrame {
  AgentKind kind = AgentKind::ping;
  PeerId peer = 0;
  std::string body{};
};

/// Maximum size of a body; longer content travels in pieces.
inline constexpr std::size_t most_agent_bytes = std::size_t{1} << 20;
inline constexpr std::size_t agent_piece_bytes = std::size_t{256} << 10;
inline constexpr std::size_t most_noise_bytes = std::size_t{64} << 10;

/// Returns "grapevine-agent 1 nonce\n".
std::string agent_hello(std::string_view nonce);
/// Returns "grapevine-agent no nonce why\n", instead of the hello.
std::string agent_refusal(std::string_view nonce, std::string_view why);
std::string encode(const AgentFrame& frame);

/// Reads frames from a stream that is fed in pieces of any length.
class AgentFrameReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// Returns the next whole frame, or nothing if more must come. Throws std::runtime_error if the
  /// bytes are no frame.
  std::optional<AgentFrame> take();

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
};

/// A stream of bytes each way, over two descriptors that never block.
class PipePair {
 public:
  PipePair() = default;
  /// Takes both descriptors and makes them non-blocking.
  PipePair(Descriptor in, Descriptor out);

  /// Reads what has come; "" if there is nothing, and at the end (see ended()).
  std::string read();
  bool ended() const { return !in_.open(); }
  /// Queues the bytes and sends what can be sent now; drops them if the other end has gone.
  void write(std::string_view bytes);
  void flush();
  std::size_t waiting() const { return queue_.size() - sent_; }  ///< bytes not sent yet
  void close_output() { out_.close(); }
  void add_to(std::vector<pollfd>& fds) const;

 private:
  Descriptor in_, out_;
  std::string queue_;
  std::size_t sent_ = 0;  ///< bytes of the queue that are sent
};

/// Silence of the other end of a connection while this process listens. If the process stands
/// still, only `longest_turn` counts: a laptop that sleeps, a machine that is paused or Ctrl-Z
/// often stops both ends together.
class LeashSilence {
 public:
  using Clock = std::chrono::steady_clock;
  /// Longest time that a turn counts for.
  static constexpr Time longest_turn{std::chrono::seconds(1)};

  void end(Clock::time_point now = Clock::now()) { heard_ = turn_ = now; }
  /// Returns its length. To be called in each turn.
  Time length(Clock::time_point now) {
    if (now - turn_ > longest_turn) heard_ += now - turn_ - longest_turn;
    turn_ = now;
    return now - heard_;
  }

 private:
  Clock::time_point heard_ = Clock::now(), turn_ = heard_;
};

// Files travel between a launcher and its agents in pieces: the name relative to the run's folder,
// a zero, one byte that is 1 in the first piece and 2 in the last (3: both), and the bytes.

/// Passes every regular file below folder/name, or that file itself, to `send` as frames; skips
/// links. `name` "" is the whole folder. Throws std::runtime_error with an unreadable path.
void send_files(const std::string& folder,
                const std::string& name,
                const std::function<void(AgentFrame)>& send);

/// Passes a file with this name and text to `send` as frames.
void send_text(const std::string& name,
               const std::string& text,
               const std::function<void(AgentFrame)>& send);

/// A failure of the local disk, not of the sender.
struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes received files below a folder; refuses names that lead out of there or through links.
class FileTaker {
 public:
  /// `allowed`: whether a file of this name may come; `most_bytes`: maximum size of all files.
  FileTaker(std::string folder,
            std::function<bool(const std::string& name)> allowed,
            std::uint64_t most_bytes)
      : folder_(std::move(folder)), allowed_(std::move(allowed)), left_(most_bytes) {}

  /// Writes one piece. Throws std::runtime_error with the name and the reason, or DiskError.
  void take(const std::string& piece);

 private:
  std::string folder_;
  std::function<bool(const std::string&)> allowed_;
  std::uint64_t left_;
};

/// Returns whether a name stays below a folder: not absolute, without "..", empty parts and zeros.
bool is_below(const std::string& name);

}  // namespace gv
