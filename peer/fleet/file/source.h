#pragma once

#include <cstddef>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gv {

/// One problem of a fleet file.
struct Diagnostic {
  std::string where;     ///< "configs/x.yaml:4:1" or "--set train.lr"
  std::string message;   ///< "unknown key `topolgy`"
  std::string source;    ///< the line and the caret, ready to print; may be empty
  std::string help;      ///< "did you mean `topology`?"; may be empty
  std::size_t more = 0;  ///< number of problems after the last one kept
};

/// All problems at once. what() is the text to print: each problem with place, line, caret and
/// help.
class FleetError : public std::exception {
 public:
  FleetError(std::string path, std::vector<Diagnostic> diagnostics);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// Place of a value: in the file (line and column from 1), or in a --set argument.
struct Place {
  int line = 0;
  int column = 0;
  std::string set;  ///< the whole --set argument, if the value comes from one
};

/// A node of the file as written: scalars stay text until a reader knows their type.
struct Value {
  enum class Kind { null, scalar, sequence, map };
  struct Entry;
  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< scalar
  std::vector<Value> items;    ///< sequence
  std::vector<Entry> entries;  ///< map, in the file's order

  const Entry* find(const std::string& key) const;
  /// Returns the entry with this key in the map of that name, or null.
  const Entry* find(const std::string& map, const std::string& key) const;
};
struct Value::Entry {
  std::string key;
  Place place;  ///< place of the key
  Value value;
};

/// The text of a fleet file and the problems found in it.
class Source {
 public:
  explicit Source(std::string path) : path_(std::move(path)) {}

  /// Reads and parses the file. Refuses parts of YAML that fleet files exclude: anchors, aliases,
  /// merge keys, tags, several documents, duplicate keys, depth above 32, size above 1 MiB. Errors
  /// become diagnostics.
  Value parse_file();
  /// Parses a text with the same restrictions.
  Value parse_text(const std::string& text);
  /// Merges `key.path=value` into the tree.
  void apply_set(Value& root, const std::string& argument);

  void error(const Place& place, int width, std::string message, std::string help = "");
  void error(const Value& value, std::string message, std::string help = "");
  /// Reports two keys that exclude each other: shows both lines, at the place of `other`.
  void conflict(const Value::Entry& one,
                const Value::Entry& other,
                std::string message,
                std::string help);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// Returns whether further problems are only counted, so that their text need not be made.
  bool full() const;
  const std::string& path() const { return path_; }

  /// Notes that a reader asks for a key of the map at this path.
  void note_key(const std::string& map, const std::string& key) {
    asked_.insert(path_of(map, key));
  }
  /// Keys that readers have asked for: "train.optimizer.lr".
  const std::set<std::string>& asked_keys() const { return asked_; }
  /// Returns the asked keys with this name below the map.
  std::vector<std::string> places_of(const std::string& map, const std::string& key) const;

 private:
  static std::string path_of(const std::string& map, const std::string& key) {
    return map.empty() ? key : map + "." + key;
  }
  Value parse(const std::string& text, const std::string& set);
  std::string excerpt(const Place& place, int width) const;

  std::string path_;
  std::vector<std::string> lines_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string> asked_;
};

/// Returns 32 hex digits of XXH3-128 over the files' content, in order, whatever their names.
/// Throws std::runtime_error "path: what is wrong" if one cannot be read.
std::string content_of(const std::vector<std::string>& files);

/// Returns words of a fleet file for a digest. Each word has its length, because it may hold any
/// bytes.
std::string counted_words(const std::vector<std::string>& words);

/// Values of a fleet file by path: {"network.latency", "5 ms"}, in the order and spelling of the
/// file. A list is one value, in YAML's flow style. A short form of `{ kind: WORD }` is expanded:
/// `topology: ring` gives {"topology.kind", "ring"}.
using FlatKeys = std::vector<std::pair<std::string, std::string>>;
FlatKeys flat_keys(const Value& root);

/// Returns the flat keys of a file with `sets` applied, as in read_fleet. Throws FleetError.
FlatKeys fleet_keys(const std::string& path, const std::vector<std::string>& sets);

}  // namespace gv
