#include "optim/train/mix_models.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "optim/check.h"

namespace gv {
namespace {

float finite_or_zero(float flow) {
  return std::isfinite(flow) ? flow : 0.0F;
}

/// Returns this replica's end of flow j.
const float* own_end(const Flows& flows, std::size_t j, std::size_t at, const float* x) {
  const bool was_sent = !flows.ours.empty() && flows.ours[j];
  return was_sent ? flows.ours[j]->floats().data() + at : x;
}

/// Sums the flows without those that are not finite.
void sum_finite(std::span<const float> x,
                const Flows& flows,
                std::size_t at,
                std::span<float> sum,
                NotFinite& bad) {
  std::ranges::fill(sum, 0.0F);
  for (std::size_t j = 0; j < flows.vectors.size(); ++j) {
    const auto other = flows.vectors[j]->floats().subspan(at, x.size());
    const float* ours = own_end(flows, j, at, x.data());
    const float w = flows.weights[j];
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += finite_or_zero(w * (other[k] - ours[k]));
    if (all_finite(other)) continue;
    const auto place = std::ranges::lower_bound(bad, j);  // may be known from another block
    if (place == bad.end() || *place != j) bad.insert(place, j);
  }
}

}  // namespace

void check_flows(const Flows& flows, std::size_t count) {
  GV_CHECK_EQUAL(flows.vectors.size(), flows.weights.size(), "a weight for each vector");
  for (const Payload& vector : flows.vectors)
    GV_CHECK_EQUAL(vector->size(), count * sizeof(float), "a neighbour's piece fills the range");
  if (flows.ours.empty()) return;
  GV_CHECK_EQUAL(flows.ours.size(), flows.vectors.size(), "an own end for each flow");
  for (const Payload& ours : flows.ours)
    GV_CHECK(!ours || ours->size() == count * sizeof(float), "our piece fills the range");
}

void mix_block(std::span<float> x, const Flows& flows, std::size_t at, NotFinite& bad) {
  std::array<float, mixing_block> sum;
  const std::span<float> total(sum.data(), x.size());
  std::ranges::fill(total, 0.0F);
  for (std::size_t j = 0; j < flows.vectors.size(); ++j) {
    const float* other = flows.vectors[j]->floats().data() + at;
    const float* ours = own_end(flows, j, at, x.data());
    const float w = flows.weights[j];
    for (std::size_t k = 0; k < x.size(); ++k) sum[k] += w * (other[k] - ours[k]);
  }
  if (!all_finite(total)) sum_finite(x, flows, at, total, bad);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += sum[k];
}

bool add_flow(std::span<float> x,
              float w,
              std::span<const float> theirs,
              std::span<const float> ours) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += finite_or_zero(w * (theirs[k] - ours[k]));
  return all_finite(theirs);
}

void scale(std::span<float> v, float factor) {
  for (float& value : v) value = factor == 0 ? 0 : value * factor;
}

void axpby(float a, std::span<const float> from, float b, std::span<float> to) {
  if (b == 0) {  // ignore the old values, which may be NaN
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = a * from[k];
  } else {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = a * from[k] + b * to[k];
  }
}

}  // namespace gv
