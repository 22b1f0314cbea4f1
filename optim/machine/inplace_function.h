#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace gv {

/// A function without arguments that stores its captures inside itself: no heap memory; movable,
/// not copyable. With millions in queues (events, arithmetic of simulated peers), each
/// std::function with more than two captured words would be a block of the heap.
template <std::size_t capacity>
class InplaceFunction {
 public:
  InplaceFunction() = default;
  template <class F,
            class = std::enable_if_t<std::is_invocable_v<F&> &&
                                     !std::is_same_v<std::decay_t<F>, InplaceFunction>>>
  InplaceFunction(F&& f) {  // NOLINT(google-explicit-constructor): as with std::function
    using Held = std::decay_t<F>;
    static_assert(sizeof(Held) <= capacity, "its captures do not fit");
    static_assert(alignof(Held) <= alignof(std::max_align_t));
    static_assert(std::is_nothrow_move_constructible_v<Held>);
    ::new (static_cast<void*>(bytes_)) Held(std::forward<F>(f));
    how_ = &how<Held>;
  }
  InplaceFunction(InplaceFunction&& other) noexcept { take(other); }
  InplaceFunction& operator=(InplaceFunction&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~InplaceFunction() { drop(); }

  explicit operator bool() const { return how_ != nullptr; }
  void operator()() { how_->call(bytes_); }

 private:
  struct How {
    void (*call)(void*);
    void (*move)(void* from, void* to) noexcept;  ///< destroys the source
    void (*end)(void*) noexcept;
  };
  template <class Held>
  static constexpr How how{[](void* held) { (*static_cast<Held*>(held))(); },
                           [](void* from, void* to) noexcept {
                             ::new (to) Held(std::move(*static_cast<Held*>(from)));
                             static_cast<Held*>(from)->~Held();
                           },
                           [](void* held) noexcept { static_cast<Held*>(held)->~Held(); }};

  void take(InplaceFunction& other) {
    how_ = std::exchange(other.how_, nullptr);
    if (how_ != nullptr) how_->move(other.bytes_, bytes_);
  }
  void drop() {
    if (how_ != nullptr) std::exchange(how_, nullptr)->end(bytes_);
  }

  const How* how_ = nullptr;
  alignas(std::max_align_t) std::byte bytes_[capacity];
};

}  // namespace gv
