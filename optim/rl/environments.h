#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/models/network_builder.h"
#include "optim/rl/environment.h"

// The table of environments, each a row in a file of its own. They are our own code from published
// equations: nothing is downloaded, and the bits are equal on every machine whose libm has the same
// sine and cosine.

namespace gv {

struct EnvironmentRow {
  std::string name;
  std::string summary;
  Shape seen;                 ///< a picture, or just `channels` numbers
  std::uint32_t actions = 0;  ///< actions are 0 .. actions - 1
  std::uint32_t limit = 0;    ///< steps after which an episode is cut
  double solved = 0;          ///< least return that counts as solved
  bool binary = false;        ///< observations are only 0 or 1, so a byte stores each
  std::unique_ptr<Environment> (*make)() = nullptr;

  bool is_picture() const { return seen.height > 1; }
  /// Returns a data set with its shape and classes and no samples, for which a model is made.
  Dataset shape_of_data() const;
};

const std::vector<EnvironmentRow>& environments();
/// Returns null if there is no environment of this name.
const EnvironmentRow* find_environment(const std::string& name);

}  // namespace gv
