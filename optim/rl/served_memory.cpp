#include "optim/rl/served_memory.h"

#include <algorithm>
#include <utility>

namespace gv {
namespace {

/// A learner asks for two minibatches ahead of the one whose errors it sends.
constexpr std::size_t most_handed_out = 4;
constexpr double slack_batches = 2;

}  // namespace

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
    // A learner that was started again asks once more from its checkpoint on, with other errors.
    if (!waiting.empty() && number <= waiting.back().number) waiting.clear();
    waiting.push_back({number, drawn.places, inserted_});
    if (waiting.size() > most_handed_out) waiting.pop_front();
  }
  return pack_transitions(drawn, spec_.form);
}

/// Transition t stands at place t mod P, so the place was written again by the first one from
/// `since` on that does.
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
