#include "peer/runtime/assembly/program_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/check.h"
#include "peer/fleet/digest.h"

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

class StartObjective : public Objective {
 public:
  StartObjective(std::vector<Parameter> parameters, std::vector<float> start, double flops)
      : parameters_(std::move(parameters)), start_(std::move(start)), flops_(flops) {}

  std::vector<Parameter> parameters() const override { return parameters_; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng) const override { std::ranges::copy(start_, x.begin()); }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "the gradients of a program are its own");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t) const override { return flops_; }

 private:
  std::vector<Parameter> parameters_;
  std::vector<float> start_;
  double flops_;
};

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

std::size_t size_of(const std::vector<Parameter>& parameters) {
  std::size_t all = 0;
  for (const Parameter& parameter : parameters) all += floats_of(parameter);
  return all;
}

std::string digest_of(const ProgramModel& model) {
  std::string text = "program;";
  for (std::size_t k = 0; k < model.parameters.size(); ++k) {
    const Parameter& p = model.parameters[k];
    text += fmt::format("{}:{}[{}]", p.name.size(), p.name, fmt::join(p.shape, ","));
    const bool turned = k < model.orders.size() && !std::ranges::is_sorted(model.orders[k]);
    if (turned) text += fmt::format("({})", fmt::join(model.orders[k], ","));
    text += ";";
  }
  return digest_of_text(text);
}

std::string digest_of(std::span<const float> values) {
  return digest_of_text({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::unique_ptr<Objective> make_start_objective(const std::vector<Parameter>& parameters,
                                                const std::vector<float>& start,
                                                double gradient_flops) {
  return std::make_unique<StartObjective>(parameters, start, gradient_flops);
}

}  // namespace gv
