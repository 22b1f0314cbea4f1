#include "gpu/replica/device_transfer.h"

#include <algorithm>
#include <array>
#include <string>

#include "gpu/device/cuda_check.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// 8 MiB per slot: sixteen neighbours' pieces of 512 KiB at once; of more, shorter stretches.
constexpr std::size_t slot_floats = std::size_t{1} << 21;
constexpr std::size_t most_flows = 4096;

const char* const staging = "the exchange's staging";

/// Returns `count` elements of `piece` from `done` on.
Piece stretch(const Piece& piece, std::size_t done, std::size_t count) {
  Piece part = piece;
  part.x += done;
  if (part.g != nullptr) part.g += done;
  if (part.first != nullptr) part.first += done;
  if (part.second != nullptr) part.second += done;
  part.count = count;
  return part;
}

}  // namespace

DeviceTransfer::DeviceTransfer(const Stream& compute)
    : compute_(compute),
      weights_(most_flows, staging),
      host_weights_(most_flows, staging),
      bad_(most_flows, staging),
      host_bad_(most_flows, staging) {
  for (Slot& slot : slots_) slot.floats = {slot_floats, staging};
}

std::size_t DeviceTransfer::room(std::size_t n) {
  return slot_floats / n / 4 * 4;
}

DeviceTransfer::Slot& DeviceTransfer::begin_filling() {
  Slot& slot = slots_[next_];
  next_ = 1 - next_;
  slot.free.hold(copy_);
  return slot;
}

void DeviceTransfer::end_filling(const Slot& slot) {
  slot.full.record(copy_);
  slot.full.hold(compute_);
}

void DeviceTransfer::end_reading(const Slot& slot) {
  slot.free.record(compute_);
}

void DeviceTransfer::stage(const Payload& piece) {
  if (few_) inbox_.take(piece);
}

void DeviceTransfer::send_weights(const Flows& flows) {
  std::ranges::copy(flows.weights, host_weights_.data());
  copy_async(weights_.data(), host_weights_.data(), flows.weights.size(), cudaMemcpyHostToDevice,
             copy_);
}

Inflow DeviceTransfer::fill(Slot& slot, const Flows& flows, std::size_t done, std::size_t count) {
  const std::size_t n = flows.vectors.size();
  const std::size_t stride = (count + 3) / 4 * 4;
  Inflow in{.vectors = slot.floats.data(),
            .weights = few_ ? nullptr : weights_.data(),
            .stride = stride,
            .n = static_cast<std::uint32_t>(n),
            .bad = bad_.data()};
  for (std::size_t j = 0; j < n; ++j) {
    float* const to = slot.floats.data() + j * stride;
    const bool is_there = staged_[j] != nullptr;
    if (!is_there) {
      const float* const from = flows.vectors[j]->floats().data() + done;
      copy_async(to, from, count, cudaMemcpyHostToDevice, copy_);
    }
    if (!few_) continue;
    in.few[j] = is_there ? staged_[j] + done : to;
    in.weights_of_few[j] = flows.weights[j];
  }
  return in;
}

NotFinite DeviceTransfer::mix(const Piece& piece, const Flows& flows, const StepRule* rule) {
  const std::size_t n = flows.vectors.size();
  GV_CHECK(n <= most_flows, "at most 4096 vectors are mixed at once");
  few_ = n <= few_flows;
  if (!few_) send_weights(flows);
  staged_.clear();
  for (const Payload& vector : flows.vectors)
    staged_.push_back(few_ ? inbox_.find(*vector) : nullptr);
  const std::size_t stride = n == 0 ? piece.count : std::min(room(n), piece.count);
  for (std::size_t done = 0; done < piece.count; done += stride) {
    const std::size_t count = std::min(stride, piece.count - done);
    Slot& slot = begin_filling();
    const Inflow in = fill(slot, flows, done, count);
    end_filling(slot);
    const Piece part = stretch(piece, done, count);
    if (rule != nullptr)
      gpu::mix_and_step(part, in, *rule, compute_);
    else
      gpu::mix(part, in, compute_);
    end_reading(slot);
  }
  return read_bad(n);
}

bool DeviceTransfer::add_flow(
    float* x, std::size_t count, float w, const Buffer& theirs, const float* ours) {
  const float* const staged = inbox_.find(theirs);
  const std::size_t stride = room(2);
  for (std::size_t done = 0; done < count; done += stride) {
    const std::size_t part = std::min(stride, count - done);
    Slot& slot = begin_filling();
    float* a = slot.floats.data();
    float* b = a + stride;
    if (staged == nullptr)
      copy_async(a, theirs.floats().data() + done, part, cudaMemcpyHostToDevice, copy_);
    copy_async(b, ours + done, part, cudaMemcpyHostToDevice, copy_);
    end_filling(slot);
    const float* const from = staged == nullptr ? a : staged + done;
    gpu::add_flow(x + done, w, from, b, part, bad_.data(), compute_);
    end_reading(slot);
  }
  return read_bad(1).empty();
}

void DeviceTransfer::add(float* v, std::size_t count, const float* in) {
  const std::size_t stride = room(1);
  for (std::size_t done = 0; done < count; done += stride) {
    const std::size_t part = std::min(stride, count - done);
    Slot& slot = begin_filling();
    copy_async(slot.floats.data(), in + done, part, cudaMemcpyHostToDevice, copy_);
    end_filling(slot);
    gpu::add(v + done, slot.floats.data(), part, compute_);
    end_reading(slot);
  }
  compute_.wait();  // the copies come first: `in` is free afterwards
}

bool DeviceTransfer::finite(const float* v, std::size_t count) {
  look_for_not_finite(v, count, bad_.data(), compute_);
  return read_bad(1).empty();
}

NotFinite DeviceTransfer::read_bad(std::size_t n) {
  if (n == 0) return {};
  copy_async(host_bad_.data(), bad_.data(), n, cudaMemcpyDeviceToHost, compute_);
  compute_.wait();
  NotFinite bad;
  for (std::size_t j = 0; j < n; ++j)
    if (host_bad_[j] != 0) bad.push_back(j);
  if (!bad.empty()) GV_CUDA(cudaMemsetAsync(bad_.data(), 0, bad_.bytes(), compute_));
  return bad;
}

namespace {

/// 64 MiB: the vectors of two neighbours for a model of 8e6 parameters.
constexpr std::size_t most_floats = std::size_t{1} << 24;

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
