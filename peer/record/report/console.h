#pragma once

#include <cstddef>
#include <string>

namespace gv::console {

// What a command prints with stdio's stdout and stderr goes through here from open() on, so that
// one place knows whether all of it could be written.

/// Takes the place of stdout and stderr. If the reader of the standard output has gone, the process
/// ends by SIGPIPE, as other programs do. To be called once, at the start.
void open();

/// From now on nothing that is printed waits for its reader (a stopped terminal, a pager, a pipe
/// that is not read): a thread writes it, and of what waits for that the oldest text is left out
/// beyond a megabyte. A reader that has gone is no error any more.
void never_wait();

/// Returns whether text waits for its reader. What is only true now need not be printed then.
bool is_behind();

/// Flushes both, and after never_wait() waits for the reader for some seconds at most. Returns why
/// the standard output could not be written; "": it was, or its reader left.
std::string close();

}  // namespace gv::console

namespace gv {

/// Breaks a text at spaces into lines of at most 80 columns; those after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace gv
