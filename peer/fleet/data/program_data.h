#pragma once

#include "peer/fleet/data/data_kind.h"

namespace gv {

/// The row of samples that a program of the user's own has, and no fleet file names: what the file
/// may say of them is how many there are, and how they are divided.
const DataKind& program_data();

}  // namespace gv
