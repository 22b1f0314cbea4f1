#include "peer/model/card/saved_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "peer/fleet/file/value.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {
namespace {

ModelRows all_of(std::shared_ptr<const Dataset> data) {
  ModelRows rows{.data = std::move(data), .places = {}, .names = {}, .left_out = {}};
  for (std::uint32_t r = 0; r < rows.data->rows; ++r) rows.places.emplace_back(r);
  return rows;
}

ModelRows pictures(const ModelCard& card, const std::string& path) {
  if (no_folder(path).empty() && is_published(path)) return all_of(published_test(card, path));
  const std::vector<PictureFile> files = find_pictures(path);
  ModelRows rows = all_of(read_pictures(card, files));
  for (const PictureFile& file : files) rows.names.push_back(file.name);
  return rows;
}

ModelRows table(const ModelCard& card, const std::string& path) {
  PreparedRows prepared = prepare_rows(path, preparation_of(card, path), false);
  ModelRows rows{
      .data = prepared.data, .places = {}, .names = {}, .left_out = std::move(prepared.left_out)};
  std::size_t out = 0;
  std::uint32_t place = 0;
  while (place < rows.data->rows || out < rows.left_out.size()) {
    if (out < rows.left_out.size() && rows.left_out[out].row == rows.places.size()) {
      rows.places.emplace_back();
      ++out;
    } else {
      rows.places.emplace_back(place++);
    }
  }
  return rows;
}

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

std::unique_ptr<Predictor> SavedModel::predictor() const {
  return make_predictor(card.model, *card.like, x, moments);
}

SavedModel load_model(const std::string& path) {
  const std::unique_ptr<TensorFile> file = open_tensors(path);
  SavedModel model{.path = path, .card = read_card(path, file->metadata()), .x = {}, .moments = {}};
  if (model.card.model.kind == program_model)
    throw std::runtime_error(
        path +
        ": only the program that trained it knows its layers: read its tensors there, as by "
        "safetensors.torch.load_file, or begin a fleet with them: `model: { start: FILE }`");
  const std::shared_ptr<const Dataset> like = model.card.like;
  if (!like && model.card.data == "environment")
    throw std::runtime_error(path +
                             ": the model of an agent, whose return is measured in its "
                             "environment: simulate a fleet that begins "
                             "with it, `model: { start: FILE }`, for one round");
  if (!like)
    throw std::runtime_error(path +
                             ": the vector of a quadratic, which has no samples to evaluate on");
  std::vector<Parameter> parameters, moments;
  try {
    parameters = model_parameters(model.card.model, *like);
    moments = running_moment_shapes(model.card.model, *like);
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(path + ": " + e.what());
  }
  model.x = flat_values(path, *file, parameters);
  for (const Parameter& moment : moments)
    model.moments.push_back({moment.name, tensor_values(path, *file, moment)});
  return model;
}

ModelRows model_rows(const ModelCard& card, const std::string& path) {
  switch (form_of(*card.like)) {
    case DataForm::pictures:
      return pictures(card, path);
    case DataForm::text:
      throw std::runtime_error(
          path +
          ": a model of a text has no rows to predict; `grapevine evaluate` measures how well "
          "it knows this one");
    case DataForm::sparse:
      return all_of(sparse_rows(card, path, false));
    default:
      return table(card, path);
  }
}

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
