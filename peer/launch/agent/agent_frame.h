#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "graph/topology/topology.h"
#include "peer/wire/lend/descriptor.h"

namespace gv {

// What a launcher and its agent on another machine say to each other, over the standard input and
// output of whatever started the agent (ssh):
//
//   stream := noise hello frame*     noise: what a shell's start-up files print, at most 64 KiB
//   hello  := "grapevine-agent 1 " nonce "\n"       of the agent alone; the launcher gave the nonce
//   frame  := length:u32 kind:u8 peer:u32 body      little endian; length counts kind, peer and
//   body
//
// Bodies are JSON, but for lines (text), pieces of vectors and of files (bytes).

enum class AgentKind : std::uint8_t {
  facts = 1,  ///< agent: what machine it is (facts.h); its first frame
  door,       ///< launcher: listen at {address, port} and answer each caller with {nonce}
  opened,     ///< agent: {port}, or {error}
  call,       ///< launcher: {calls: [{address, port, nonce}]}: who answers with the right nonce?
  called,     ///< agent: {answers: ["" | why not]}, in the order of the call
  shut,       ///< launcher: the door is needed no more
  look,       ///< launcher: {paths: [...], devices: true}: what lies there, and which are there?
  looked,     ///< agent: {data: [null | [{name, bytes, digest}]], free_bytes, devices}, or {error}
  file,       ///< a piece of a file below the run's folder; both ways
  start,      ///< launcher: {args: [...], most_vector_bytes} of peer `peer`
  started,    ///< agent: {pid}, or {error}
  tell,       ///< launcher: a line to a peer's stdin
  output,     ///< agent: a line of a peer's stdout
  errors,     ///< agent: a line of its stderr
  vector,     ///< agent: a piece of a report's vector: last:u8 bytes
  ended,      ///< agent: {ending}
  signal,     ///< launcher: {signal}
  fetch,      ///< launcher: send the files that the peers have left
  fetched,    ///< agent: that was all of them: {error}: "" or what could not be read
  ping,       ///< both ways; each frame is a sign of life, and this one nothing else
  leave,      ///< launcher: {keep}: end, and take the run's folder away unless it is to be kept
  meter,      ///< launcher: as `door`, for who measures its link to here (link_meter.h)
  measure,    ///< launcher: {calls: as for `call`, seconds}: the links to these, all at once
  measured,   ///< agent: {links: [{latency, bandwidth} | {error}]}, in that order
};

struct AgentFrame {
  AgentKind kind = AgentKind::ping;
  PeerId peer = 0;
  std::string body{};
};

/// The most bytes of a body: what is longer travels in pieces.
inline constexpr std::size_t most_agent_bytes = std::size_t{1} << 20;
inline constexpr std::size_t agent_piece_bytes = std::size_t{256} << 10;
inline constexpr std::size_t most_noise_bytes = std::size_t{64} << 10;

/// "grapevine-agent 1 nonce\n".
std::string agent_hello(std::string_view nonce);
std::string encode(const AgentFrame& frame);

/// Frames out of a stream that is given in pieces of any length.
class AgentFrameReader {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole frame; nothing: more must come. Throws std::runtime_error at what is no frame.
  std::optional<AgentFrame> take();

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
};

/// A stream of bytes each way, over two descriptors that never block.
class PipePair {
 public:
  PipePair() = default;
  /// Takes both, and makes them so that they do not block.
  PipePair(Descriptor in, Descriptor out);

  /// Reads what has come; "" when there is nothing, and at the end (ended()).
  std::string read();
  bool ended() const { return !in_.open(); }
  /// Queues the bytes, and sends what can be sent now. To who has gone nothing is sent.
  void write(std::string_view bytes);
  void flush();
  std::size_t waiting() const { return queue_.size() - sent_; }  ///< bytes that are not sent
  void close_output() { out_.close(); }
  void add_to(std::vector<pollfd>& fds) const;

 private:
  Descriptor in_, out_;
  std::string queue_;
  std::size_t sent_ = 0;  ///< of the queue
};

// Files travel between a launcher and its agents as pieces: the name, relative to the run's folder
// at either end, a zero, one byte that is 1 at the first piece and 2 at the last (3: both), and
// bytes.

/// Hands every regular file below folder/name, or that file itself, to `send` as frames; links are
/// left out. `name` "": all. Throws std::runtime_error with the path when one cannot be read.
void send_files(const std::string& folder,
                const std::string& name,
                const std::function<void(AgentFrame)>& send);

/// A file of that name and text, as frames.
void send_text(const std::string& name,
               const std::string& text,
               const std::function<void(AgentFrame)>& send);

/// The disk does not take it, whoever sent it.
struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes what comes below a folder. A name that leads out of it, or a path through a link, is
/// refused.
class FileTaker {
 public:
  /// `allowed`: whether a file of this name may come; `most_bytes`: of all of them.
  FileTaker(std::string folder,
            std::function<bool(const std::string& name)> allowed,
            std::uint64_t most_bytes)
      : folder_(std::move(folder)), allowed_(std::move(allowed)), left_(most_bytes) {}

  /// Throws std::runtime_error with the name and what is wrong with it, and DiskError.
  void take(const std::string& piece);

 private:
  std::string folder_;
  std::function<bool(const std::string&)> allowed_;
  std::uint64_t left_;
};

/// Returns whether a name is one below a folder: not absolute, without "..", empty parts and zeros.
bool is_below(const std::string& name);

}  // namespace gv
