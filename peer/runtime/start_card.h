#pragma once

#include <optional>

#include "optim/data/dataset.h"
#include "optim/data/table/table_plan.h"
#include "peer/fleet/fleet.h"
#include "peer/model/card/model_card.h"

namespace gv {

/// Returns what the saved model that training begins from (`model.start`) says of its data; nothing
/// where there is none, or where it is a file of named tensors and nothing else. Throws
/// std::runtime_error.
std::optional<ModelCard> start_card(const Fleet& fleet);

/// Gives the table the columns, values, classes, means and deviations of the card, to be found by
/// their names, so that its weights mean what they meant. Throws std::runtime_error that names what
/// the spec says otherwise.
void follow(const ModelCard& card, TableSpec& spec);

/// Returns the sets of pictures, sparse rows or text with the card's classes or vocabulary, found
/// by their names, and pictures scaled as the card says; other sets as they are. Throws
/// std::runtime_error that names what the card does not know.
TrainTest following(const ModelCard& card, const TrainTest& sets);

}  // namespace gv
