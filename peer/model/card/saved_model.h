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

/// Throws std::runtime_error "path: the error, and a remedy".
SavedModel load_model(const std::string& path);

/// Samples for predictions of the model.
struct ModelRows {
  std::shared_ptr<const Dataset> data;
  /// Index in `data` of each row of the file, in their order; none for a row that was left out.
  std::vector<std::optional<std::uint32_t>> places;
  std::vector<std::string> names;  ///< files of pictures; else empty
  std::vector<LeftOut> left_out;   ///< the rows without an index, in their order
};

/// Reads like labelled_data (labelled_data.h), but without labels: a table needs no target, and
/// pictures may be in any folder. Throws std::runtime_error "path: ...".
ModelRows model_rows(const ModelCard& card, const std::string& path);

/// The answer of a model to one row.
struct Answer {
  bool left_out = false;              ///< true if the row is in ModelRows::left_out
  std::size_t label = 0;              ///< classification: the likeliest class
  std::vector<double> probabilities;  ///< by class: softmax of the logits, or the logistic of
                                      ///< the margin; empty for a regression
  double value = 0;                   ///< regression: the value
};

/// Returns the answers in the order of the rows.
std::vector<Answer> answers(const SavedModel& model, const ModelRows& rows);

}  // namespace gv
