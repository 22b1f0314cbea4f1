#pragma once

#include <cstdint>
#include <functional>

namespace gv {

/// Does the arithmetic of one lane, job after job, while the loop serves the network.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  /// Takes a job from the loop; `ended` is called behind it, before the next one, on any thread.
  virtual void submit(std::function<void()> job, std::function<void()> ended) = 0;
  /// Takes no more jobs (loop only). Returns when the one at hand is over; what waits is dropped.
  virtual void end() = 0;
  virtual std::uint64_t done() const = 0;  ///< jobs, since the start
  virtual bool working() const = 0;        ///< on a job
};

}  // namespace gv
