#pragma once

#include <functional>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// Returns where decoded data sets are kept: GRAPEVINE_CACHE, or else grapevine/data in
/// XDG_CACHE_HOME or ~/.cache. Empty: nowhere.
std::string decoded_folder();

/// Pictures that lie compressed or as text in `files`, decoded once per machine: the first process
/// writes what `decode` gives into a file of `folder` named by the content of `files` and by `form`
/// (which reader, of which version), and all map that file, so that it is in memory once.
/// Whatever is wrong with the folder or the file costs time and nothing else: then `decode` is
/// called. Throws what `decode` throws.
TrainTest decoded(const std::string& folder,
                  const std::string& form,
                  const std::vector<std::string>& files,
                  const std::function<TrainTest()>& decode);

}  // namespace gv
