#include "peer/model/card/answers.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

/// Softmax without overflow.
std::vector<double> softmax(std::span<const float> logits) {
  const auto greatest = static_cast<double>(*std::ranges::max_element(logits));
  std::vector<double> parts;
  double sum = 0;
  for (const float logit : logits)
    sum += parts.emplace_back(std::exp(static_cast<double>(logit) - greatest));
  for (double& part : parts) part /= sum;
  return parts;
}

Answer answer_of(std::span<const float> outputs, std::size_t classes, double shift) {
  if (classes == 0) return {.probabilities = {}, .value = static_cast<double>(outputs[0]) + shift};
  Answer answer;
  if (outputs.size() == 1) {
    const auto margin = static_cast<double>(outputs[0]);
    answer.label = margin > 0 ? 1 : 0;
    answer.probabilities = {1 / (1 + std::exp(margin)), 1 / (1 + std::exp(-margin))};
  } else {
    const auto greatest = std::ranges::max_element(outputs);
    answer.label = static_cast<std::size_t>(greatest - outputs.begin());
    answer.probabilities = softmax(outputs);
  }
  return answer;
}

}  // namespace

std::vector<Answer> answers(const SavedModel& model, const ModelRows& rows) {
  const std::unique_ptr<Predictor> predictor = model.predictor();
  const std::size_t width = predictor->outputs();
  const Dataset& like = *model.card.like;
  const double shift = like.facts ? like.facts->target_shift.value_or(0) : 0;
  std::vector<Answer> told(rows.data->rows);
  if (!told.empty())
    predictor->answer(*rows.data, [&](std::size_t first, std::span<const float> outputs) {
      for (std::size_t r = 0; r * width < outputs.size(); ++r)
        told[first + r] = answer_of(outputs.subspan(r * width, width), like.classes, shift);
    });
  std::vector<Answer> all;
  all.reserve(rows.places.size());
  for (const std::optional<std::uint32_t>& place : rows.places) {
    if (place)
      all.push_back(std::move(told[*place]));
    else
      all.push_back({.left_out = true, .probabilities = {}});
  }
  return all;
}

}  // namespace gv
