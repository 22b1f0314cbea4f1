#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/fleet/reference/range_text.h"

namespace gv {
namespace {

/// Keys that belong together stand together; a kind's key that is not here stands behind these.
constexpr std::array<std::string_view, 33> order{
    "data",      "kind",       "dir",         "fallback",
    "file",      "test",       "test_file",   "train",
    "samples",   "held_out",   "validation",  "header",
    "target",    "task",       "standardize", "standardize.file",
    "one_hot",   "ignore",     "dates",       "decimal",
    "missing",   "context",    "augment",     "features",
    "classes",   "separation", "nonzeros",    "noise",
    "dimension", "hessian",    "spread",      "start",
    "name"};

std::string takes_of(const DataKey& key) {
  if (!key.number) return key.takes;
  const NumberRange& range = *key.number;
  const std::string what = !key.takes.empty() ? key.takes
                           : range.whole      ? "a whole number"
                                              : "a number";
  return fmt::format("{}, {}", what, range_text(range.least, range.most));
}

/// Collects what a key says of several kinds: each text once, behind the kinds that it holds for.
class Said {
 public:
  /// `kind` "": of every kind.
  void add(const std::string& kind, const std::string& text) {
    if (text.empty()) return;
    const auto same = std::ranges::find(parts_, text, &Part::text);
    if (same == parts_.end())
      parts_.push_back({{kind}, text});
    else if (std::ranges::find(same->kinds, kind) == same->kinds.end())
      same->kinds.push_back(kind);
  }
  /// "16; teacher 64": the first is what is usual, and needs no head.
  std::string others(const char* behind_head) const {
    std::string line;
    for (const Part& part : parts_)
      line +=
          line.empty() ? part.text : fmt::format("; {}{}{}", part.head(), behind_head, part.text);
    return line;
  }
  /// "idx, cifar10: the published files. images: a folder for each class."
  std::string sentences() const {
    std::string line;
    for (const Part& part : parts_)
      line += fmt::format("{}{}{}{}",
                          line.empty() ? "" : " ",
                          part.head(),
                          part.head().empty() ? "" : ": ",
                          part.text.ends_with(".") ? part.text : part.text + ".");
    return line;
  }

 private:
  struct Part {
    std::vector<std::string> kinds;
    std::string text;

    std::string head() const { return fmt::format("{}", fmt::join(kinds, ", ")); }
  };
  std::vector<Part> parts_;
};

/// One row for all kinds that have a key of this name.
struct Row {
  Said takes, usual, meaning;
  std::string example;

  void add(const std::string& kind, const DataKey& key) {
    const std::string& whose = key.whose.empty() ? kind : key.whose;
    takes.add(whose, takes_of(key));
    usual.add(whose, key.number ? fmt::format("{:g}", key.number->usual) : key.usual);
    meaning.add(whose, key.help);
    if (example.empty()) example = key.example;
  }
};

class Rows {
 public:
  Rows() {
    for (const PlainKey& key : common_data_keys()) add(key);
    for (const DataKind& kind : data_kinds()) add(kind);
  }

  std::vector<KeyRow> in_order() const {
    std::vector<std::string> names = names_;
    std::ranges::stable_sort(names, {}, [](const std::string& name) {
      return std::ranges::find(order, name) - order.begin();
    });
    std::vector<KeyRow> all;
    for (const std::string& name : names) {
      const Row& row = rows_.at(name);
      all.push_back({.key = name == "data" ? name : "data." + name,
                     .takes = row.takes.others(": "),
                     .usual = row.usual.others(" "),
                     .meaning = row.meaning.sentences(),
                     .example = row.example});
    }
    return all;
  }

 private:
  Row& row(const std::string& name) {
    const auto [at, first] = rows_.try_emplace(name);
    if (first) names_.push_back(name);
    return at->second;
  }
  void add(const PlainKey& plain) {
    KeyRow key = row_of(plain);
    const std::size_t dot = key.key.find('.');
    row(dot == std::string::npos ? key.key : key.key.substr(dot + 1))
        .add("",
             {.name = "",
              .takes = std::move(key.takes),
              .usual = std::move(key.usual),
              .help = std::move(key.meaning),
              .example = std::move(key.example)});
  }
  void add(const DataKind& kind) {
    row("kind").meaning.add(kind.kind, kind.summary);
    for (const DataKey& key : kind.keys) row(key.name).add(kind.kind, key);
    if (kind.validation)
      row("validation")
          .takes.add(kind.kind, kind.validation->folder ? "also a folder" : "also a file");
  }

  std::map<std::string, Row> rows_;
  std::vector<std::string> names_;
};

/// "idx, digits or table"
std::string kinds_text() {
  std::string text;
  const std::vector<DataKind>& kinds = data_kinds();
  for (std::size_t k = 0; k < kinds.size(); ++k)
    text += (k == 0 ? "" : k + 1 == kinds.size() ? " or " : ", ") + kinds[k].kind;
  return text;
}

}  // namespace

std::vector<KeyRow> data_keys() {
  std::vector<KeyRow> all = Rows().in_order();
  KeyRow& kind = *std::ranges::find(all, "data.kind", &KeyRow::key);
  kind.takes = kinds_text();
  kind.usual = DataSpec().kind;
  kind.example = "data: { kind: digits }";
  for (const PlainKey& key : divided_data_keys()) all.push_back(row_of(key));
  return all;
}

}  // namespace gv
