#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/models/network_builder.h"
#include "optim/rl/environment.h"

// The table of environments. Each is a row and stands in one file. They are our own, written after
// their published equations: nothing is fetched, and the bits are the same on every machine whose
// libm has the same sine and cosine.

namespace gv {

struct EnvironmentRow {
  std::string name;
  std::string summary;
  Shape seen;                 ///< a picture, or `channels` numbers alone
  std::uint32_t actions = 0;  ///< they are 0 .. actions - 1
  std::uint32_t limit = 0;    ///< steps after which an episode is cut
  double solved = 0;          ///< the return from which it counts as solved
  bool binary = false;        ///< what is seen is 0 or 1 everywhere, so that a byte keeps it
  std::unique_ptr<Environment> (*make)() = nullptr;

  bool is_picture() const { return seen.height > 1; }
  /// A data set of its shape and classes, without a sample: what a model is made for.
  Dataset shape_of_data() const;
};

const std::vector<EnvironmentRow>& environments();
/// Null: there is none of this name.
const EnvironmentRow* find_environment(const std::string& name);

}  // namespace gv
