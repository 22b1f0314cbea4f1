#pragma once

#include <concepts>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/formats/json_value.h"

namespace gv::embed {

/// Reads the members of one JSON object, each at most once, and refuses those that nobody has asked
/// for. A member that is missing or null leaves its target as it is.
class WordReader {
 public:
  /// `call`: "gv_open", which errors name; `json`: null and "" are {}. Throws Fault (GV_E_USE).
  WordReader(std::string call, const char* json);
  WordReader(std::string call, const JsonValue& object);

  const JsonValue* find(const std::string& key);
  void read(const std::string& key, std::string& target);
  void read(const std::string& key, bool& target);
  void read(const std::string& key, double& target, double least, double most);
  void read(const std::string& key, std::vector<std::string>& target);
  void read(const std::string& key, std::vector<std::pair<std::string, double>>& target);
  /// A whole number of 0 .. most; true: it is there.
  template <std::unsigned_integral Integer>
  bool read(const std::string& key, Integer& target, Integer most) {
    std::uint64_t number = 0;
    if (!read_count(key, number, most)) return false;
    target = static_cast<Integer>(number);
    return true;
  }
  /// One of these.
  std::size_t choice(const std::string& key, std::size_t usual, std::vector<std::string> words);
  /// Throws: members that are nobody's.
  void finish() const;
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  bool read_count(const std::string& key, std::uint64_t& target, std::uint64_t most);

  std::string call_;
  JsonValue object_;
  std::set<std::string> known_;
};

}  // namespace gv::embed
