#pragma once

#include <functional>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// Returns the folder of decoded data sets: GRAPEVINE_CACHE, or else grapevine/data in
/// XDG_CACHE_HOME or ~/.cache. Empty if there is none.
std::string decoded_folder();

/// Decodes pictures that are compressed or text in `files` once per machine. The first process
/// writes the result of `decode` into a file of `folder`, named by the content of `files` and by
/// `form` (reader and version); all processes map that file, so it is in memory once. On any
/// problem with the folder or the file, calls `decode` instead. Throws the exceptions of `decode`.
TrainTest decoded(const std::string& folder,
                  const std::string& form,
                  const std::vector<std::string>& files,
                  const std::function<TrainTest()>& decode);

}  // namespace gv
