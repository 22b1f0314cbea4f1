#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// The words that the program may say when something is not as it should be, as it stands in the
/// sources. What is filled in is named in angle brackets: "<path>: no such file".
struct Message {
  std::string path;  ///< of the source
  std::size_t line;
  std::string text;
  std::string help;  ///< what to do, where the program says it in a part of its own
};

/// Every error, warning and notice of a source: what is thrown (std::logic_error apart, which no
/// user meets), what is handed to a function that refuses, logs or tells, what is printed on
/// stderr, and sentences that are returned or kept as a reason. Fragments of fewer than two words
/// are none, and folders of screens and pages return no reasons.
std::vector<Message> messages_in(const File& file);

}  // namespace gv::tidy
