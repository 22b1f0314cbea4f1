#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {

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

}  // namespace gv
