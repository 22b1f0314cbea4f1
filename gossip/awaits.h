#pragma once

#include <coroutine>
#include <functional>
#include <optional>
#include <utility>

#include "gossip/mailbox.h"
#include "gossip/world.h"
#include "optim/inplace_function.h"

namespace gv {

/// Arithmetic; see InplaceFunction.
using Job = InplaceFunction<80>;

/// Runs a job in a lane and resumes the coroutine on the loop. The lambda is made here and not
/// beside a `co_await`: g++ 12 can free the captures of the latter twice.
struct Offload {
  World& world;
  double flops;
  Job job;
  Lane lane = Lane::home;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    world.offload(
        lane, flops, [this] { job(); }, [h] { h.resume(); });
  }
  void await_resume() const noexcept {}
};

/// Resumes the coroutine after a time.
struct Sleep {
  World& world;
  Time length;
  bool await_ready() const noexcept { return length <= Time{0}; }
  void await_suspend(std::coroutine_handle<> h) {
    world.after(length, [h] { h.resume(); });
  }
  void await_resume() const noexcept {}
};

/// Suspends a coroutine until `resume` is called.
struct Suspend {
  std::function<void()>& resume;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    resume = [h] { h.resume(); };
  }
  void await_resume() const noexcept {}
};

/// The message of a key, or nothing: its sender has left, or the wait was interrupted.
struct Receive {
  Mailbox& mailbox;
  Mailbox::Key key;
  Absence absence;  ///< that ends the wait
  std::optional<Message> answer;
  bool await_ready() { return mailbox.take(key, answer); }
  void await_suspend(std::coroutine_handle<> h) {
    mailbox.wait(key, absence, [this, h](std::optional<Message> m) {
      answer = std::move(m);
      h.resume();
    });
  }
  std::optional<Message> await_resume() { return std::move(answer); }
};

}  // namespace gv
