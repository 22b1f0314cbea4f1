#include "peer/fleet/file/source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "optim/data/field.h"
#include "optim/printable.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

constexpr std::size_t largest_file = 1U << 20;
constexpr std::size_t deepest = 32;
constexpr std::size_t longest_excerpt = 160;  ///< maximum number of bytes shown of a line
constexpr std::size_t longest_message = 1000;
constexpr std::size_t most_diagnostics = 20;  ///< maximum number kept; further ones are counted

/// Thrown to leave the parser if it cannot continue.
struct Abandon {};

/// Builds the tree from yaml-cpp's events; nothing is resolved, expanded or guessed.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Source& source, std::string set) : source_(source), set_(std::move(set)) {}
  Value root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value;
    value.place = place(mark);
    refuse_extras(value.place, "", anchor);
    put(std::move(value));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    source_.error(place(mark), 1, "aliases are not allowed in a fleet file",
                  "write the value out, or use --set");
    put({});
  }
  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& text) override {
    Value value;
    value.kind = Value::Kind::scalar;
    value.place = place(mark);
    value.text = text;
    // A NUL is never intended, and would truncate the text in system calls.
    if (text.find('\0') != std::string::npos)
      source_.error(value, "it contains the character NUL", "write it without `\\0`");
    refuse_extras(value.place, tag, anchor);
    put(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    bool has_key = false;
    std::string key;
    std::set<std::string> keys;  ///< keys seen, for lookup: a file may have 100,000 entries
    Place key_place;
  };

  Place place(const YAML::Mark& mark) const { return {mark.line + 1, mark.column + 1, set_}; }

  void refuse_extras(const Place& at, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0)
      source_.error(at, 1, "anchors are not allowed in a fleet file",
                    "write the value out, or use --set");
    if (!tag.empty() && tag != "?" && tag != "!")
      source_.error(at, 1, fmt::format("tags are not allowed: `{}`", tag));
  }

  void open(Value::Kind kind,
            const YAML::Mark& mark,
            const std::string& tag,
            YAML::anchor_t anchor) {
    if (stack_.size() >= deepest) {
      source_.error(place(mark), 1, fmt::format("nested more than {} deep", deepest));
      throw Abandon{};
    }
    Frame frame;
    frame.value.kind = kind;
    frame.value.place = place(mark);
    refuse_extras(frame.value.place, tag, anchor);
    stack_.push_back(std::move(frame));
  }

  void close() {
    Value done = std::move(stack_.back().value);
    stack_.pop_back();
    put(std::move(done));
  }

  void put(Value value) {
    if (stack_.empty()) {
      root = std::move(value);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.value.kind == Value::Kind::sequence) {
      frame.value.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      if (value.kind != Value::Kind::scalar)
        source_.error(value.place, 1, "a key must be a plain word");
      if (value.text == "<<")
        source_.error(value.place, 2, "merge keys `<<` are not allowed",
                      "write the keys out, or use --set");
      frame.has_key = true;
      frame.key = value.text;
      frame.key_place = value.place;
    } else {
      frame.has_key = false;
      add_entry(frame, std::move(value));
    }
  }

  void add_entry(Frame& frame, Value value) {
    if (!frame.keys.insert(frame.key).second) {
      source_.error(frame.key_place, static_cast<int>(frame.key.size()),
                    fmt::format("duplicate key `{}`", frame.key),
                    "remove one of the two; the file would otherwise depend on their order");
      return;
    }
    frame.value.entries.push_back({frame.key, frame.key_place, std::move(value)});
  }

  Source& source_;
  std::string set_;
  std::vector<Frame> stack_;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// Keys for which a word is short for a map with this `kind`, as in the readers.
constexpr std::array short_for_kind{std::string_view("algorithm"),
                                    std::string_view("algorithm.codec"),
                                    std::string_view("data"),
                                    std::string_view("data.partition"),
                                    std::string_view("model"),
                                    std::string_view("topology"),
                                    std::string_view("train.optimizer"),
                                    std::string_view("train.optimizer.schedule")};

/// Writes a value on one line: `[0, 1]`, `{ host: anna, count: 2 }`.
std::string flow_text(const Value& value) {
  if (value.kind == Value::Kind::scalar) return value.text;
  if (value.kind == Value::Kind::null) return "";
  std::string text;
  for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + flow_text(item);
  if (value.kind == Value::Kind::sequence) return "[" + text + "]";
  for (const Value::Entry& entry : value.entries)
    text += (text.empty() ? "" : ", ") + entry.key + ": " + flow_text(entry.value);
  return text.empty() ? "{}" : "{ " + text + " }";
}

void flatten(const Value& value, const std::string& path, FlatKeys& keys) {
  if (value.kind == Value::Kind::map && !value.entries.empty()) {
    for (const Value::Entry& entry : value.entries)
      flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
    return;
  }
  if (path.empty()) return;
  const bool word = value.kind == Value::Kind::scalar;
  const bool kind = word && std::ranges::find(short_for_kind, path) != short_for_kind.end();
  keys.emplace_back(kind ? path + ".kind" : path, flow_text(value));
}

}  // namespace

const Value::Entry* Value::find(const std::string& key) const {
  const auto it = std::ranges::find(entries, key, &Entry::key);
  return it == entries.end() ? nullptr : &*it;
}

const Value::Entry* Value::find(const std::string& map, const std::string& key) const {
  const Entry* const outer = find(map);
  return outer == nullptr ? nullptr : outer->value.find(key);
}

Value Source::parse_file() {
  if (no_folder(path_).empty()) {
    diagnostics_.push_back({path_, "is a folder", "", "name a fleet file in it"});
    return {};
  }
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path_, code);
  const bool says_more =
      code && code != std::errc::no_such_file_or_directory && code != std::errc::not_supported;
  if (says_more) {
    diagnostics_.push_back({path_, "cannot be read: " + code.message(), "", ""});
    return {};
  }
  if (code || !no_file(path_).empty()) {
    const bool there = std::filesystem::exists(path_, code);
    diagnostics_.push_back({path_,
                            there ? "cannot be read: a pipe or a device, not a regular file"
                                  : "cannot be read: no such file",
                            "", ""});
    return {};
  }
  if (size > largest_file) {
    diagnostics_.push_back(
        {path_, fmt::format("is {} bytes long; a fleet file has at most {}", size, largest_file),
         "", ""});
    return {};
  }
  std::ifstream in(path_, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return parse_text(text.str());
}

Value Source::parse_text(const std::string& text) {
  lines_ = split(text, '\n');
  return parse(text, "");
}

Value Source::parse(const std::string& text, const std::string& set) {
  TreeBuilder builder(*this, set);
  std::istringstream in(text);
  try {
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
    TreeBuilder second(*this, set);
    if (parser.HandleNextDocument(second))
      error(second.root.place, 1, "more than one YAML document");
  } catch (const YAML::Exception& e) {
    error(Place{e.mark.line + 1, e.mark.column + 1, set}, 1,
          fmt::format("not valid YAML: {}", e.msg));
  } catch (const Abandon&) {
  }
  return std::move(builder.root);
}

void Source::apply_set(Value& root, const std::string& argument) {
  const auto equals = argument.find('=');
  const Place at{1, 1, argument};
  if (equals == std::string::npos || equals == 0) return error(at, 1, "expected KEY.PATH=VALUE");
  Value value = parse(argument.substr(equals + 1), argument);
  Value* node = &root;
  const std::vector<std::string> keys = split(argument.substr(0, equals), '.');
  for (const std::string& key : keys) {
    if (node->kind == Value::Kind::scalar) {
      // Expands `topology: ring`, short for { kind: ring }, so that the kind is kept.
      Value kind = *node;
      node->kind = Value::Kind::map;
      node->entries = {{"kind", node->place, std::move(kind)}};
    }
    if (node->kind != Value::Kind::map) {
      *node = {};
      node->kind = Value::Kind::map;
      node->place = at;
    }
    auto it = std::ranges::find(node->entries, key, &Value::Entry::key);
    if (it == node->entries.end()) it = node->entries.insert(it, {key, at, {}});
    node = &it->value;
  }
  value.place = at;
  *node = std::move(value);
}

std::vector<std::string> Source::places_of(const std::string& map, const std::string& key) const {
  std::vector<std::string> places;
  for (const std::string& path : asked_)
    if (path.ends_with("." + key) && path.starts_with(path_of(map, ""))) places.push_back(path);
  return places;
}

bool Source::full() const {
  return diagnostics_.size() >= most_diagnostics;
}

void Source::error(const Place& place, int width, std::string message, std::string help) {
  if (full()) {
    ++diagnostics_.back().more;
    return;
  }
  message = printable(message, longest_message);
  help = printable(help, longest_message);
  if (!place.set.empty()) {
    diagnostics_.push_back({"--set " + printable(place.set, longest_excerpt), std::move(message),
                            "", std::move(help)});
    return;
  }
  diagnostics_.push_back({fmt::format("{}:{}:{}", path_, place.line, place.column),
                          std::move(message), excerpt(place, width), std::move(help)});
}

/// Returns the line and the caret, or "" if the file has no such line.
std::string Source::excerpt(const Place& place, int width) const {
  const auto line = static_cast<std::size_t>(place.line - 1);
  if (!place.set.empty() || place.line < 1 || line >= lines_.size()) return "";
  const std::string number = std::to_string(place.line);
  const auto indent =
      static_cast<std::size_t>(std::clamp(place.column - 1, 0, int{longest_excerpt}));
  return fmt::format("{0} |\n{1}| {2}\n{0} | {3}{4}\n{0} ", std::string(number.size(), ' '), number,
                     printable(lines_[line], longest_excerpt), std::string(indent, ' '),
                     std::string(static_cast<std::size_t>(std::clamp(width, 1, 80)), '^'));
}

void Source::conflict(const Value::Entry& one,
                      const Value::Entry& other,
                      std::string message,
                      std::string help) {
  if (full()) return error(other.place, 1, std::move(message), std::move(help));
  error(other.place, static_cast<int>(other.key.size()), std::move(message), std::move(help));
  std::string first = excerpt(one.place, static_cast<int>(one.key.size()));
  std::string& shown = diagnostics_.back().source;
  if (first.empty() || shown.empty()) return;
  // Removes its last line, which begins the help.
  first.erase(first.rfind('\n') + 1);
  shown.insert(0, first);
}

void Source::error(const Value& value, std::string message, std::string help) {
  error(value.place, static_cast<int>(std::max<std::size_t>(value.text.size(), 1)),
        std::move(message), std::move(help));
}

FleetError::FleetError(std::string path, std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& d : diagnostics_) {
    text_ += fmt::format("error: {}\n  --> {}\n", d.message, d.where);
    text_ += d.source;
    if (!d.help.empty())
      text_ += fmt::format("{}= help: {}\n", d.source.empty() ? "   " : "", d.help);
    else if (!d.source.empty())
      text_ += "\n";
    text_ += "\n";
  }
  const std::size_t more = diagnostics_.empty() ? 0 : diagnostics_.back().more;
  if (more > 0) text_ += fmt::format("and {} more, which are not shown\n\n", more);
  const std::size_t all = diagnostics_.size() + more;
  text_ += counted(all, "error") + " in " + path;
}

std::string content_of(const std::vector<std::string>& files) {
  XXH3_state_t hash;
  XXH3_128bits_reset(&hash);
  std::vector<char> piece(1U << 20);
  for (const std::string& path : files) {
    std::ifstream in = open_regular(path);
    if (!in) throw std::runtime_error(path + ": cannot be read, or is no regular file");
    std::uint64_t bytes = 0;
    while (in) {
      in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      bytes += static_cast<std::uint64_t>(in.gcount());
      XXH3_128bits_update(&hash, piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw std::runtime_error(path + ": cannot be read; is the disk damaged?");
    XXH3_128bits_update(&hash, &bytes, sizeof bytes);
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(&hash);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string counted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}:{} ", word.size(), word);
  return text;
}

FlatKeys flat_keys(const Value& root) {
  FlatKeys keys;
  flatten(root, "", keys);
  return keys;
}

FlatKeys fleet_keys(const std::string& path, const std::vector<std::string>& sets) {
  Source source(path);
  Value root = source.parse_file();
  if (source.diagnostics().empty())
    for (const std::string& argument : sets) source.apply_set(root, argument);
  if (!source.diagnostics().empty()) throw FleetError(path, source.diagnostics());
  return flat_keys(root);
}

}  // namespace gv
