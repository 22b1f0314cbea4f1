#include "peer/model/card/saved_model.h"

#include <stdexcept>

#include "peer/model/tensors/start_values.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {

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
    throw std::runtime_error(
        path +
        ": the model of an agent, whose return its environment says: simulate a fleet that begins "
        "with it, `model: { start: FILE }`, for one round");
  if (!like)
    throw std::runtime_error(path + ": the vector of a quadratic, which has no samples to look at");
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

}  // namespace gv
