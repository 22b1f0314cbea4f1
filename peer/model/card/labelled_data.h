#pragma once

#include <memory>
#include <string>

#include "optim/data/dataset.h"
#include "optim/data/table/prepared_rows.h"
#include "peer/model/card/model_card.h"

namespace gv {

/// Samples of the kind that the model learnt, with what is right of each, prepared exactly as in
/// training. `path`: for a table a file with its columns and its target; for pictures a folder with
/// a folder for each class, or a published set, of which the test part is taken; for sparse rows a
/// LIBSVM file; for a text a text. Throws std::runtime_error "path: what is wrong, and what to do".
std::shared_ptr<const Dataset> labelled_data(const ModelCard& card, const std::string& path);

/// Sparse rows; labels are compared with the model's classes where `labels` says so.
std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels);

/// Returns how the model's table was prepared. Throws std::runtime_error where the card is silent.
Preparation preparation_of(const ModelCard& card, const std::string& path);

}  // namespace gv
