#pragma once

#include <functional>
#include <string>

#include "peer/launch/process.h"

namespace gv {

using OnLine = std::function<void(const std::string&)>;

/// Keeps the last line that a process logged, unless that only explains the line before: the last
/// words of a process are its error, not the help that follows an error.
void keep_last_words(std::string& words, const std::string& line);

/// Takes all whole lines that a process has said since the last call. Returns whether it has ended
/// since then. Its end is taken first: what it said before that is still there, and no word is
/// lost.
bool hear(Process& process, const OnLine& on_output, const OnLine& on_error);

/// Hears a program that runs to its end, each line as it comes, and returns after the last.
void hear_out(Process& process, const OnLine& on_output, const OnLine& on_error);

}  // namespace gv
