#include "optim/rl/transitions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "optim/rl/environments.h"

namespace gv {
namespace {

/// The words of one transition, beside what is seen.
constexpr std::size_t words = 4;
static_assert(sizeof(float) == 4);

class Writer {
 public:
  explicit Writer(Buffer& to) : at_(to.data()) {}

  template <class T>
  void add(std::span<const T> values) {
    if (!values.empty()) std::memcpy(at_, values.data(), values.size_bytes());
    at_ += values.size_bytes();
  }
  void add_seen(std::span<const float> seen, bool binary) {
    if (!binary) return add(seen);
    for (const float v : seen) *at_++ = static_cast<std::byte>(v != 0);
  }

 private:
  std::byte* at_;
};

class Reader {
 public:
  explicit Reader(const Buffer& from) : at_(from.data()) {}

  template <class T>
  void take(std::vector<T>& to, std::size_t count) {
    to.resize(count);
    std::memcpy(to.data(), at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  /// False: a byte is neither 0 nor 1.
  bool take_seen(std::vector<float>& to, std::size_t count, bool binary) {
    if (!binary) return take(to, count), true;
    std::vector<std::uint8_t> bytes;
    take(bytes, count);
    to.assign(bytes.begin(), bytes.end());
    return std::ranges::all_of(bytes, [](std::uint8_t b) { return b <= 1; });
  }

 private:
  const std::byte* at_;
};

bool is_size(float value) {
  return std::isfinite(value) && value >= 0;
}

bool holds_only_valid(const Drawn& rows, const TransitionForm& form) {
  return std::ranges::all_of(rows.actions, [&](std::uint32_t a) { return a < form.actions; }) &&
         std::ranges::all_of(rows.futures, [](float f) { return f >= 0 && f <= 1; }) &&
         std::ranges::all_of(rows.weights, is_size) && all_finite(rows.rewards) &&
         all_finite(rows.seen) && all_finite(rows.next);
}

}  // namespace

std::size_t TransitionForm::bytes() const {
  return words * sizeof(float) + std::size_t{2} * numbers * (binary ? 1 : sizeof(float));
}

TransitionForm form_of(const EnvironmentRow& row) {
  return {.numbers = static_cast<std::uint32_t>(row.seen.elements()),
          .actions = row.actions,
          .binary = row.binary};
}

std::shared_ptr<Buffer> pack_transitions(const Drawn& rows, const TransitionForm& form) {
  auto packed = std::make_shared<Buffer>(rows.rows() * form.bytes());
  Writer out(*packed);
  out.add(std::span<const std::uint32_t>(rows.actions));
  out.add(std::span<const float>(rows.rewards));
  out.add(std::span<const float>(rows.futures));
  out.add(std::span<const float>(rows.weights));
  out.add_seen(rows.seen, form.binary);
  out.add_seen(rows.next, form.binary);
  return packed;
}

std::optional<Drawn> unpack_transitions(const Buffer& packed,
                                        const TransitionForm& form,
                                        std::size_t most_rows) {
  const std::size_t count = packed.size() / form.bytes();
  if (count == 0 || count > most_rows || packed.size() != count * form.bytes()) return {};
  Reader in(packed);
  Drawn rows;
  in.take(rows.actions, count);
  in.take(rows.rewards, count);
  in.take(rows.futures, count);
  in.take(rows.weights, count);
  const bool bits = in.take_seen(rows.seen, count * form.numbers, form.binary) &&
                    in.take_seen(rows.next, count * form.numbers, form.binary);
  if (!bits || !holds_only_valid(rows, form)) return {};
  return rows;
}

std::shared_ptr<Buffer> pack_errors(std::span<const float> errors) {
  if (errors.empty() || !all_finite(errors)) return nullptr;
  auto packed = std::make_shared<Buffer>(errors.size_bytes());
  std::ranges::transform(
      errors, packed->floats().begin(), [](float error) { return std::abs(error); });
  return packed;
}

std::optional<std::vector<float>> unpack_errors(const Buffer& packed, std::size_t rows) {
  if (packed.size() != rows * sizeof(float)) return {};
  const std::span<const float> errors = packed.floats();
  if (!std::ranges::all_of(errors, is_size)) return {};
  return std::vector<float>(errors.begin(), errors.end());
}

}  // namespace gv
