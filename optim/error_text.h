#pragma once

#include <string>

namespace gv {

/// An error text that says what is wrong; empty when all is well.
using Verdict = std::string;

/// The text of an error of the system, of which a full disk, a quota and a limit of the size of
/// files all begin alike.
Verdict error_text(int error);
/// Returns whether some text is about such an error.
bool is_no_space(const std::string& text);

}  // namespace gv
