#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "gossip/seam/world.h"
#include "optim/buffer.h"
#include "optim/machine/inplace_function.h"

namespace gv {

/// A lazily started coroutine that resumes its awaiter when it ends (symmetric transfer).
/// Move-only; the owner destroys the frame. Knows no executor: the caller of the callback (World)
/// decides the thread. Parameters must be values, or outlive the task. Name the result of a
/// co_await before negating it: for `!co_await f()`, g++ 12 puts a temporary before the frame's own
/// first field, and the coroutine is never resumed. tests/tidy looks for it.
template <class T = void>
class [[nodiscard]] Task;

namespace detail {

struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    return h.promise().continuation ? h.promise().continuation : std::noop_coroutine();
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> continuation;
  std::exception_ptr error;
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
  static void* operator new(std::size_t bytes) { return take_block(bytes); }
  static void operator delete(void* frame, std::size_t bytes) { give_block(frame, bytes); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T v) { value = std::move(v); }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

template <class T>
class Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle h) : handle_(h) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { reset(); }

  /// Runs until the first suspension; for the outermost task only.
  void start() { handle_.resume(); }
  bool done() const { return !handle_ || handle_.done(); }
  /// Returns the result of a finished task; rethrows its exception.
  T result() { return handle_.promise().take(); }

  bool await_ready() const noexcept { return done(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().continuation = awaiter;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  void reset() {
    if (handle_) handle_.destroy();
    handle_ = {};
  }
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

/// Arithmetic; see InplaceFunction.
using Job = InplaceFunction<80>;

/// Runs a job in a lane and resumes the coroutine on the loop. The lambda is made here and not next
/// to a `co_await`: g++ 12 can free the captures of the latter twice.
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

/// A coroutine that runs concurrently with the algorithm's own, on the same loop: the second
/// thread of some papers. It ends by itself; its owner awaits the end, so that nothing is under way
/// afterwards.
class Beside {
 public:
  Beside(World& world, Task<> work) : world_(world), task_(run(std::move(work))) { task_.start(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  /// Waits until it has ended. Rethrows its exception.
  Task<> join() {
    if (!ended_) {
      Suspend suspend{when_ended_};
      co_await suspend;
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Task<> run(Task<> work) {
    try {
      co_await work;
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_ = true;
    // Deferred, because the resumed coroutine may destroy this frame, which is still running.
    if (when_ended_) world_.after(Time{0}, std::exchange(when_ended_, {}));
  }

  World& world_;
  bool ended_ = false;
  std::exception_ptr error_;
  std::function<void()> when_ended_;
  Task<> task_;  ///< last, because it uses the others
};

}  // namespace gv
