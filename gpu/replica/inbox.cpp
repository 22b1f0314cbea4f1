#include "gpu/replica/inbox.h"

#include <string>

#include "gpu/device/notice.h"

namespace gv::gpu {
namespace {

/// 64 MiB: the vectors of two neighbours for a model of 8e6 parameters.
constexpr std::size_t most_floats = std::size_t{1} << 24;

const char* const staging = "the exchange's staging";

}  // namespace

/// Returns the smallest free place that is large enough; else a new one.
Inbox::Place* Inbox::free_place(std::size_t count) {
  Place* best = nullptr;
  for (Place& place : places_) {
    if (!place.piece.expired() || place.floats.size() < count) continue;
    if (best == nullptr || place.floats.size() < best->floats.size()) best = &place;
  }
  return best == nullptr ? new_place(count) : best;
}

Inbox::Place* Inbox::new_place(std::size_t count) {
  if (full_ || floats_ + count > most_floats) return nullptr;
  try {
    places_.push_back({{count, staging}});
  } catch (const DeviceFull& e) {
    notice(std::string(e.what()) + "; what comes goes to the device when it is mixed");
    full_ = true;
    return nullptr;
  }
  floats_ += count;
  return &places_.back();
}

void Inbox::take(const Payload& piece) {
  const std::size_t count = piece->size() / sizeof(float);
  if (count == 0 || count > most_floats || find(*piece) != nullptr) return;
  Place* const place = free_place(count);
  if (place == nullptr) return;
  copy_async(place->floats.data(), piece->floats().data(), count, cudaMemcpyHostToDevice, copy_);
  copy_.wait();
  place->at = piece.get();
  place->piece = piece;
}

const float* Inbox::find(const Buffer& piece) const {
  for (const Place& place : places_)
    if (place.at == &piece && !place.piece.expired()) return place.floats.data();
  return nullptr;
}

}  // namespace gv::gpu
