#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// A text of the program about something that went wrong, as it is in the sources. Inserted values
/// are named in angle brackets: "<path>: no such file".
struct Message {
  std::string path;  ///< path of the source
  std::size_t line;
  std::string text;
  std::string help;  ///< advice, if the program prints it separately
};

/// Returns every error, warning and notice of a source: texts that are thrown (except
/// std::logic_error, which no user sees), passed to a function that refuses, logs or reports, or
/// printed on stderr, and sentences that are returned or kept as a reason. Texts of fewer than two
/// words do not count, and folders of screens and pages return no reasons.
std::vector<Message> messages_in(const File& file);

}  // namespace gv::tidy
