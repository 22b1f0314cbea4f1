#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/table/table_builder.h"
#include "peer/model/card/model_card.h"

namespace gv {

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

}  // namespace gv
