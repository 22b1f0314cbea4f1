#pragma once

#include <string>

namespace gv {

/// An error text that says what is wrong; empty when all is well.
using Verdict = std::string;

}  // namespace gv
