#include "optim/host/host_layer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

/// out <- sum of the parts, two of which are the common case.
void sum_parts(const std::vector<dnnl::memory>& parts, float* out, std::size_t n) {
  const float* a = floats(parts[0]);
  if (parts.size() == 1) {
    std::copy_n(a, n, out);
    return;
  }
  const float* b = floats(parts[1]);
  for (std::size_t k = 0; k < n; ++k) out[k] = a[k] + b[k];
  for (std::size_t p = 2; p < parts.size(); ++p) {
    const float* c = floats(parts[p]);
    for (std::size_t k = 0; k < n; ++k) out[k] += c[k];
  }
}

/// out[k] <- value(k) where y[k] > 0, else zero. A mask of bits: under a plain condition g++ 12
/// does not vectorize the sum of two parts, and ResNet-20 spends a tenth of its step here.
template <class Value>
void where_positive(const float* y, std::size_t n, float* out, Value value) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t mask = y[k] > 0 ? ~std::uint32_t{0} : 0;
    out[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value(k)) & mask);
  }
}

}  // namespace

IncomingGradient::IncomingGradient(HostMemory& memory,
                                   const std::vector<Lease>& parts,
                                   const dnnl::memory& y,
                                   bool relu)
    : y_(y), relu_(relu) {
  GV_CHECK(!parts.empty(), "a layer whose output somebody uses");
  for (const Lease& part : parts) {
    GV_CHECK(part.tensor.get_desc() == y.get_desc(), "gradients in the layout of the value");
    parts_.push_back(part.tensor);
  }
  sum_ = parts.size() == 1 && !relu ? parts.front() : memory.lend(y.get_desc());
}

void IncomingGradient::gather() {
  if (parts_.size() == 1 && !relu_) return;
  float* out = floats(sum_.tensor);
  const std::size_t n = float_count(y_);
  if (!relu_) return sum_parts(parts_, out, n);
  const float* y = floats(y_);
  const float* a = floats(parts_[0]);
  if (parts_.size() == 1) {
    where_positive(y, n, out, [a](std::size_t k) { return a[k]; });
  } else if (parts_.size() == 2) {
    const float* b = floats(parts_[1]);
    where_positive(y, n, out, [a, b](std::size_t k) { return a[k] + b[k]; });
  } else {
    sum_parts(parts_, out, n);
    where_positive(y, n, out, [out](std::size_t k) { return out[k]; });
  }
}

PrimitiveLayer::PrimitiveLayer(const LayerPlace& place, double flops_of_an_element)
    : SingleInputLayer(place) {
  const auto rows = static_cast<std::uint32_t>(x_.get_desc().data.dims[0]);
  const double flops = flops_of_an_element * static_cast<double>(float_count(x_));
  slices_ = with_rows(x_.get_desc(), 1) ? RowSlices::for_work(flops, rows) : RowSlices{rows, rows};
}

std::vector<Lease> SingleInputLayer::prepare_backward(const std::vector<Lease>& parts, bool) {
  incoming_ = IncomingGradient(memory_, parts, y_, false);
  Lease result = memory_.lend(x_.get_desc());
  dx_ = result.tensor;
  make_backward();
  incoming_.drop();
  return {std::move(result)};
}

}  // namespace gv
