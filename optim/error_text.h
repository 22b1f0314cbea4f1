#pragma once

#include <string>

namespace gv {

/// An error text; empty for success.
using Verdict = std::string;

/// The text of a system error. Texts about a full disk, a quota or a limit of file sizes share a
/// first part.
Verdict error_text(int error);
/// Returns whether some text is about such an error.
bool is_no_space(const std::string& text);

}  // namespace gv
