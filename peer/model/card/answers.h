#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/model/card/model_rows.h"
#include "peer/model/card/saved_model.h"

namespace gv {

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
