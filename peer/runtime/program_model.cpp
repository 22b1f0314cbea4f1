#include "peer/runtime/program_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "optim/check.h"
#include "peer/fleet/digest.h"

namespace gv {
namespace {

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

std::size_t size_of(const std::vector<Parameter>& parameters) {
  std::size_t all = 0;
  for (const Parameter& parameter : parameters) {
    std::size_t floats = 1;
    for (const std::uint32_t length : parameter.shape) floats *= length;
    all += floats;
  }
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
  const XXH128_hash_t hash = XXH3_128bits(values.data(), values.size_bytes());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::unique_ptr<Objective> make_start_objective(const std::vector<Parameter>& parameters,
                                                const std::vector<float>& start,
                                                double gradient_flops) {
  return std::make_unique<StartObjective>(parameters, start, gradient_flops);
}

}  // namespace gv
