#pragma once

#include <cstddef>
#include <string>

#include "peer/fleet/json/json.h"

namespace gv::console {

// From open() on, a command's output to stdio's stdout and stderr passes through here, so that one
// place knows whether all text was written.

/// Replaces stdout and stderr. If the reader of the standard output has gone, the process ends by
/// SIGPIPE, as other programs do. Call once, at the start.
void open();

/// From now on printing does not wait for a slow reader (a stopped terminal, a pager, a full pipe):
/// a thread writes the text, and the oldest waiting text beyond a megabyte is dropped. A reader
/// that has gone is no longer an error.
void never_wait();

/// Returns whether the reader is slow. Short-lived information need not be printed then.
bool is_behind();

/// Flushes both; after never_wait(), waits for the reader for a few seconds at most. Returns why
/// the standard output could not be written, or "" if it was written or its reader left.
std::string close();

/// Prints a document on a line of the standard output.
void print(const Json& json);
/// Prints a text on the standard output, in lines as `wrapped` breaks them.
void print_wrapped(const std::string& text, std::size_t indent);

}  // namespace gv::console

namespace gv {

/// Breaks a text at spaces into lines of at most 80 columns; those after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace gv
