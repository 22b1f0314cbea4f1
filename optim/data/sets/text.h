#pragma once

#include <cstdint>
#include <string>

#include "optim/data/dataset.h"

namespace gv {

/// Reads a text file as windows of `context` tokens: each byte is one token, and the vocabulary is
/// the set of bytes that occur, ascending. The last tenth is the test set. Throws
/// std::runtime_error "path: the error, with the numbers, and a remedy" if the file is missing,
/// empty, over 2 GiB, or if either part has no window with a following character.
TrainTest read_text(const std::string& path, std::uint32_t context);

}  // namespace gv
