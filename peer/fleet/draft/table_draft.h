#pragma once

#include <string>

#include "peer/fleet/draft/data_draft.h"
#include "peer/fleet/draft/fleet_draft.h"

namespace gv {

/// Looks at all rows of a table and says what is to be done with what is not clean in it: decimal
/// commas, dates, missing values, columns that are of no use. `folder`: of the fleet file. Throws
/// std::runtime_error for a table that cannot be read at all, std::invalid_argument for a target
/// that is no column.
DataDraft table_draft(const DraftAnswers& answers, const std::string& folder);

}  // namespace gv
