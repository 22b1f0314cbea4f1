#include <algorithm>
#include <set>
#include <string>

#include "peer/fleet/fleet.h"
#include "peer/fleet/reference/key_table.h"
#include "tests/peer/fleet/keys/key_fixture.h"
#include "tests/text_of.h"

// `explain` and docs/fleet-file.md name defaults, which the fleet has as initial values of members.
// A file that gives the defaults must be the same fleet as a file without them. Users once copied
// `record: on` and `checkpoint: { every: never }` from there and were refused.

namespace gv {
namespace {

/// The example of a row with the default as the key's value, and the example without the key, which
/// is empty if the key is the whole example.
struct Pair {
  std::string said, silent;
};

/// Returns the end of the value that begins at `at`: a comma, the bracket that closes its
/// container, or the end of the line.
std::size_t value_end(const std::string& text, std::size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
  }
  return at;
}

/// Returns the default for the first kind if it depends on the kind: "0.1; adam 0.001". A word with
/// a brace needs quotes, as in any YAML.
std::string first_usual(const KeyRow& row) {
  const std::string first = row.usual.substr(0, row.usual.find(';'));
  return first.find('{') == std::string::npos || first.starts_with('{') ? first : '"' + first + '"';
}

Pair pair_of(const KeyRow& row) {
  const std::string key = row.key.substr(row.key.rfind('.') + 1) + ":";
  const std::string& text = row.example;
  // The last occurrence on the line is the key, because a `kind` inside has an outer `kind` before
  // it.
  std::size_t begin = text.substr(0, text.find('\n')).rfind(key);
  if (begin == std::string::npos) begin = text.rfind(key);
  EXPECT_NE(begin, std::string::npos) << row.key << ": " << text;
  std::size_t end = value_end(text, begin + key.size());
  Pair pair{.said = text.substr(0, begin) + key + " " + first_usual(row) + " " + text.substr(end),
            .silent = {}};
  if (row.key.find('.') == std::string::npos && begin == 0) return pair;
  if (end < text.size() && text[end] == ',') {
    ++end;
  } else if (const std::size_t comma = text.find_last_not_of(' ', begin - 1);
             comma != std::string::npos && text[comma] == ',') {
    begin = comma;
  }
  pair.silent = text.substr(0, begin) + text.substr(end);
  return pair;
}

/// The default of `peers.device` is `train.device`.
bool is_other_key(const std::string& usual) {
  const std::vector<KeyRow>& rows = fleet_file_keys();
  return std::ranges::find(rows, usual, &KeyRow::key) != rows.end();
}

class KeyUsual : public KeyTable {
 protected:
  /// Returns the digest of a small fleet with the line, or the readers' message against the line.
  std::string read(const std::string& line) const { return digest_in(fleet_with(line)); }
  /// Returns the same for that fleet without the line.
  std::string read_without(const std::string& line) const {
    const std::string file = fleet_with(line);
    std::string text = text_of(file);
    write("fleet.yaml", text.erase(text.find(line), line.size()));
    return digest_in(file);
  }
  static std::string digest_in(const std::string& file) {
    try {
      return read_fleet(file, {}, nullptr).digest;
    } catch (const FleetError& refused) {
      std::string all = "refused: ";
      for (const Diagnostic& d : refused.diagnostics()) all += d.message + "\n";
      return all;
    }
  }
  static bool is_refused(const std::string& read) { return read.starts_with("refused: "); }
};

/// A default that is not a value stands in parentheses: "(detected by `run`)". Every other one is
/// accepted by the reader and gives the same fleet as a file without the key; if that file lacks
/// another key, both report it.
TEST_F(KeyUsual, EachIsAValueThatTheReaderTakes) {
  std::set<std::string> held;
  std::size_t values = 0;
  for (const KeyRow& row : fleet_file_keys()) {
    if (row.usual.empty() || row.usual.starts_with("(") || is_other_key(row.usual)) continue;
    ++values;
    const Pair pair = pair_of(row);
    const std::string said = read(pair.said);
    const std::string silent = pair.silent.empty() ? read_without(pair.said) : read(pair.silent);
    EXPECT_EQ(said, silent) << row.key << ": " << pair.said << "\n beside " << pair.silent;
    if (!is_refused(silent) && read(row.example) != silent) held.insert(row.key);
  }
  EXPECT_GT(values, 150U);
  // Keys that are not in the digest, or whose example is the default, prove nothing more.
  EXPECT_GT(held.size(), 60U);
}

}  // namespace
}  // namespace gv
