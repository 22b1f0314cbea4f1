#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/tidy/messages.h"

namespace gv::tidy {

/// Notes that people have written into docs/messages.md, next to the messages.
struct WrittenNotes {
  std::string begins;                                     ///< text above the first group
  std::map<std::string, std::string> groups;              ///< introductions by title
  std::map<std::string, std::vector<std::string>> notes;  ///< note lines by "title: message"
};
WrittenNotes read_notes(const std::vector<std::string>& page);

/// Returns the page: its beginning and the groups' introductions unchanged, each message once, with
/// the program's advice, and then the notes of people.
std::string message_page(const std::vector<Message>& messages, const WrittenNotes& written);

/// Returns notes on messages that no longer exist, and groups without an introduction.
Findings loose_ends(const std::vector<Message>& messages, const WrittenNotes& written);

}  // namespace gv::tidy
