#pragma once

#include <cstdint>
#include <string>

#include "optim/data/dataset.h"

namespace gv {

/// A text file as windows of `context` tokens: each byte is one token, the vocabulary are the bytes
/// that occur, ascending. The last tenth is the test set. Throws std::runtime_error "path: what is
/// wrong, with the numbers, and what to do" when the file is missing, empty, over 2 GiB, or when
/// either part holds no window and the character that follows it.
TrainTest read_text(const std::string& path, std::uint32_t context);

}  // namespace gv
