#pragma once

#include <string>

namespace gv {

/// What is wrong: an error text, empty when all is well.
using Verdict = std::string;

}  // namespace gv
