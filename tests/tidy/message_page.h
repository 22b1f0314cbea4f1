#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/tidy/messages.h"

namespace gv::tidy {

/// The notes that people have written into docs/messages.md beside the messages themselves.
struct WrittenNotes {
  std::string begins;                                     ///< all above the first group
  std::map<std::string, std::string> groups;              ///< by title: what stands under it
  std::map<std::string, std::vector<std::string>> notes;  ///< by "title: message": its lines
};
WrittenNotes read_notes(const std::vector<std::string>& page);

/// The page: its beginning and the groups' introductions as they were, each message once, with what
/// the program says is to be done, and then what people have written about it.
std::string message_page(const std::vector<Message>& messages, const WrittenNotes& written);

/// Notes to messages that are not there any more; groups without a word of introduction.
Findings loose_ends(const std::vector<Message>& messages, const WrittenNotes& written);

}  // namespace gv::tidy
