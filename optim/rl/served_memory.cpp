#include "optim/rl/served_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "optim/rl/environments.h"

namespace gv {
namespace {

/// Number of words of one transition, without its observations.
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
  /// Returns false if a byte is neither 0 nor 1.
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

/// A learner asks for two minibatches ahead of the one whose errors it sends.
constexpr std::size_t most_handed_out = 4;
constexpr double slack_batches = 2;

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
  std::ranges::transform(errors, packed->floats().begin(),
                         [](float error) { return std::abs(error); });
  return packed;
}

std::optional<std::vector<float>> unpack_errors(const Buffer& packed, std::size_t rows) {
  if (packed.size() != rows * sizeof(float)) return {};
  const std::span<const float> errors = packed.floats();
  if (!std::ranges::all_of(errors, is_size)) return {};
  return std::vector<float>(errors.begin(), errors.end());
}

ServedMemory::ServedMemory(ServedMemorySpec spec, Rng draws)
    : spec_(std::move(spec)), memory_(spec_.memory), draws_(draws) {
  std::uint32_t largest = 1;
  for (const auto& [learner, batch] : spec_.batches) largest = std::max(largest, batch);
  slack_ = slack_batches * largest;
}

bool ServedMemory::may_take() const {
  if (!warm_ || spec_.samples_per_insert == 0) return true;
  return static_cast<double>(taken_) * spec_.samples_per_insert <=
         static_cast<double>(learnt_) + slack_;
}

bool ServedMemory::take(const Buffer& chunk) {
  const std::optional<Drawn> rows = unpack_transitions(chunk, spec_.form, spec_.most_rows);
  if (!rows) return false;
  const std::size_t numbers = spec_.form.numbers;
  for (std::size_t k = 0; k < rows->rows(); ++k)
    memory_.add({.seen = std::span(rows->seen).subspan(k * numbers, numbers),
                 .action = rows->actions[k],
                 .reward = rows->rewards[k],
                 .future = rows->futures[k],
                 .next = std::span(rows->next).subspan(k * numbers, numbers)},
                rows->weights[k]);
  inserted_ += rows->rows();
  if (warm_) taken_ += rows->rows();
  warm_ = warm_ || inserted_ >= spec_.warm_up;
  return true;
}

bool ServedMemory::may_serve() const {
  if (!warm_) return false;
  if (spec_.samples_per_insert == 0) return true;
  return static_cast<double>(learnt_) <=
         spec_.samples_per_insert * static_cast<double>(taken_) + slack_;
}

std::shared_ptr<Buffer> ServedMemory::minibatch(std::uint32_t learner,
                                                std::uint64_t number,
                                                bool counts) {
  const auto batch = spec_.batches.find(learner);
  if (batch == spec_.batches.end()) return nullptr;
  Drawn drawn;
  memory_.draw(batch->second, draws_, drawn);
  if (counts) learnt_ += drawn.rows();
  if (spec_.memory.priority > 0) {
    std::deque<HandedOut>& waiting = handed_out_[learner];
    // A restarted learner repeats its requests from its checkpoint on, with other errors.
    if (!waiting.empty() && number <= waiting.back().number) waiting.clear();
    waiting.push_back({number, drawn.places, inserted_});
    if (waiting.size() > most_handed_out) waiting.pop_front();
  }
  return pack_transitions(drawn, spec_.form);
}

/// Transition t is at place t mod P, so the place was overwritten by the first such transition from
/// `since` on.
bool ServedMemory::rewritten(std::uint32_t place, std::uint64_t since) const {
  const std::uint64_t places = spec_.memory.places;
  const std::uint64_t next = since + (place + places - since % places) % places;
  return next < inserted_;
}

bool ServedMemory::judge(std::uint32_t learner, std::uint64_t number, const Buffer& errors) {
  const auto drawn = handed_out_.find(learner);
  if (drawn == handed_out_.end()) return true;
  std::deque<HandedOut>& waiting = drawn->second;
  const auto of = std::ranges::find(waiting, number, &HandedOut::number);
  if (of == waiting.end()) return true;
  const auto sizes = unpack_errors(errors, of->places.size());
  if (!sizes) return false;
  std::vector<std::uint32_t> places;
  std::vector<float> found;
  for (std::size_t k = 0; k < sizes->size(); ++k) {
    if (rewritten(of->places[k], of->inserted)) continue;
    places.push_back(of->places[k]);
    found.push_back((*sizes)[k]);
  }
  memory_.judge(places, found);
  waiting.erase(of);
  return true;
}

MemoryFigures ServedMemory::figures() const {
  return {.inserted = inserted_, .taken = taken_, .learnt = learnt_, .kept = memory_.size()};
}

}  // namespace gv
