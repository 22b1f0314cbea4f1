#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/train/predictor.h"
#include "peer/model/card/model_card.h"

namespace gv {

struct SavedModel {
  std::string path;
  ModelCard card;
  std::vector<float> x;
  std::vector<RunningMoment> moments;

  std::unique_ptr<Predictor> predictor() const;
};

/// Throws std::runtime_error "path: what is wrong, and what to do".
SavedModel load_model(const std::string& path);

}  // namespace gv
