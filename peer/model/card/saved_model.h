#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/table/table_builder.h"
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

/// Samples of which the model is to say something.
struct ModelRows {
  std::shared_ptr<const Dataset> data;
  /// The place in `data` of each row that was there, in their order; none: it was left out.
  std::vector<std::optional<std::uint32_t>> places;
  std::vector<std::string> names;  ///< of pictures, their files; else empty
  std::vector<LeftOut> left_out;   ///< the rows that have no place, in their order
};

/// Reads as labelled_data does (labelled_data.h), but nobody has to say what is right: a table
/// needs no target, and pictures may lie in any folder. Throws std::runtime_error "path: ...".
ModelRows model_rows(const ModelCard& card, const std::string& path);

/// The answer of a model to one row.
struct Answer {
  bool left_out = false;              ///< by ModelRows::left_out
  std::size_t label = 0;              ///< classification: the likeliest class
  std::vector<double> probabilities;  ///< of each class: softmax of the logits, or the logistic of
                                      ///< the margin; of a regression none
  double value = 0;                   ///< regression: the value
};

/// Returns them in the order of the rows.
std::vector<Answer> answers(const SavedModel& model, const ModelRows& rows);

}  // namespace gv
