#pragma once

#include <string>

#include "optim/data/dataset.h"

namespace gv {

/// 32 hex digits of XXH3-128 over all samples with their labels, as in memory; independent of file
/// names. "" without a data set.
std::string data_digest(const Dataset* data);

}  // namespace gv
