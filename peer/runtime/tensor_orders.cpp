#include "peer/runtime/tensor_orders.h"

#include <cstddef>

namespace gv {
namespace {

std::size_t floats_of(const Parameter& parameter) {
  std::size_t floats = 1;
  for (const std::uint32_t extent : parameter.shape) floats *= extent;
  return floats;
}

/// Calls take(place in memory, place in the order of the shape) for each element of a tensor whose
/// memory has another order.
template <class Take>
void walk(const Parameter& parameter, const std::vector<std::uint32_t>& order, Take take) {
  std::vector<std::size_t> strides(parameter.shape.size(), 1);
  for (std::size_t d = parameter.shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * parameter.shape[d];
  const std::size_t floats = floats_of(parameter);
  for (std::size_t k = 0; k < floats; ++k) {
    std::size_t rest = k;
    std::size_t place = 0;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      place += rest % parameter.shape[*d] * strides[*d];
      rest /= parameter.shape[*d];
    }
    take(k, place);
  }
}

/// Calls take(place in x, place in the order of the shapes) for each element of all such tensors.
template <class Take>
void walk(const std::vector<Parameter>& parameters, const TensorOrders& orders, Take take) {
  std::size_t begin = 0;
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const auto place = [&](std::size_t in_memory, std::size_t in_shape) {
      take(begin + in_memory, begin + in_shape);
    };
    if (!orders[k].empty()) walk(parameters[k], orders[k], place);
    begin += floats_of(parameters[k]);
  }
}

}  // namespace

std::vector<float> in_order_of_shapes(std::span<const float> x,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders) {
  std::vector<float> values(x.begin(), x.end());
  walk(parameters, orders,
       [&](std::size_t in_memory, std::size_t in_shape) { values[in_shape] = x[in_memory]; });
  return values;
}

std::vector<float> in_order_of_memory(std::span<const float> values,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders) {
  std::vector<float> x(values.begin(), values.end());
  walk(parameters, orders,
       [&](std::size_t in_memory, std::size_t in_shape) { x[in_memory] = values[in_shape]; });
  return x;
}

}  // namespace gv
