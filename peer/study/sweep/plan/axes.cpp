#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/json_value.h"
#include "graph/spec/nearest.h"
#include "optim/mapped.h"
#include "optim/printable.h"
#include "peer/study/sweep/plan/sweep_file.h"

namespace gv {
namespace {

constexpr std::size_t longest_label = 60;

/// Returns whether YAML reads the text unchanged within a list or map on one line.
bool is_plain(const std::string& text) {
  static const std::string also = "_./%+- ";
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           also.find(c) != std::string::npos;
  };
  return !text.empty() && std::ranges::all_of(text, plain) && text.front() != ' ' &&
         text.back() != ' ' && text.front() != '%' && text != "-" && !text.starts_with("- ");
}

/// Returns whether the key identifies the run instead of what is compared.
bool is_reserved(const std::string& key) {
  static const std::vector<std::string> reserved{"version", "seed", "name", "output"};
  const std::string first = key.substr(0, key.find('.'));
  return std::ranges::count(reserved, first) > 0;
}

void add_sets(Source& source,
              const Value& value,
              const std::string& path,
              std::vector<SweepSet>& sets) {
  if (value.kind == Value::Kind::null) {
    source.error(value.place, 1, fmt::format("`{}` has no value", path));
  } else if (value.kind == Value::Kind::map && value.find("kind") == nullptr &&
             !value.entries.empty()) {
    for (const Value::Entry& entry : value.entries)
      add_sets(source, entry.value, path + "." + entry.key, sets);
  } else {
    check_sweep_key(source, path, value.place);
    sets.push_back({path, path + "=" + flow_text(value), value.place});
  }
}

bool is_label(const std::string& text) {
  return !text.empty() && text.size() <= longest_label && is_printable(text) &&
         text.find(',') == std::string::npos && text.find('=') == std::string::npos;
}

class AxesReader {
 public:
  explicit AxesReader(Source& source) : source_(source) {}

  void read(const Value::Entry& entry) {
    SweepAxis axis{.name = entry.key, .values = {}, .place = entry.place};
    if (!is_label(axis.name))
      source_.error(entry.place, 1, "an axis has a name of at most 60 printable letters");
    if (entry.value.kind == Value::Kind::map)
      read_patches(entry.value, axis);
    else if (entry.value.kind == Value::Kind::sequence)
      read_values(entry.value, axis);
    else
      return source_.error(
          entry.value,
          fmt::format("expected the values of `{}`: a list, or a map of named patches", axis.name),
          fmt::format("write `{}: [0.1, 1]`, or `{}: {{ small: {{ model: ... }} }}`", axis.name,
                      axis.name));
    if (axis.values.empty())
      source_.error(entry.place, static_cast<int>(axis.name.size()), "this axis has no value");
    check_keys(axis);
    axes.push_back(std::move(axis));
  }

  std::vector<SweepAxis> axes;

 private:
  void read_patches(const Value& value, SweepAxis& axis) {
    for (const Value::Entry& entry : value.entries) {
      if (full(axis, entry.place)) return;
      if (!is_label(entry.key))
        source_.error(entry.place, 1, "a value has a name of at most 60 letters, without , or =");
      axis.values.push_back({entry.key, sets_of(source_, entry.value), entry.place});
    }
  }

  void read_values(const Value& value, SweepAxis& axis) {
    check_sweep_key(source_, axis.name, axis.place);
    for (const Value& item : value.items) {
      if (full(axis, item.place)) return;
      const std::string text = flow_text(item);
      if (std::ranges::count(axis.values, text, &SweepValue::label) > 0)
        source_.error(item, fmt::format("`{}` is listed twice", text));
      if (!is_label(text) && item.kind == Value::Kind::scalar)
        source_.error(item, "this value is too long, or not printable, to name a column");
      if (item.kind != Value::Kind::scalar)
        source_.error(item, "expected a plain value in this list",
                      fmt::format("give it a name: `{}: {{ some-name: {{ {}: ... }} }}`", axis.name,
                                  axis.name));
      axis.values.push_back({text, {{axis.name, axis.name + "=" + text, item.place}}, item.place});
    }
  }

  bool full(const SweepAxis& axis, const Place& place) {
    if (axis.values.size() < most_sweep_values) return false;
    source_.error(place, 1, fmt::format("more than {} values on an axis", most_sweep_values));
    return true;
  }

  /// A later axis may set a key below a key of an earlier axis, but not the same key.
  void check_keys(const SweepAxis& axis) {
    for (const SweepValue& value : axis.values) {
      for (const SweepSet& set : value.sets) {
        const auto first = owner_of(set.key);
        if (!first) continue;
        source_.error(set.place, 1,
                      fmt::format("axes `{}` and `{}` both set `{}`", *first, axis.name, set.key),
                      "let one axis set it");
        return;
      }
    }
  }

  std::optional<std::string> owner_of(const std::string& key) const {
    for (const SweepAxis& before : axes)
      for (const SweepValue& value : before.values)
        for (const SweepSet& set : value.sets)
          if (set.key == key || set.key.starts_with(key + ".")) return before.name;
    return std::nullopt;
  }

  Source& source_;
};

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string guess = nearest(word, known);
  return did_you_mean(guess, fmt::format("there are: {}", fmt::join(known, ", ")));
}

}  // namespace

void check_sweep_key(Source& source, const std::string& key, const Place& place) {
  const int width = static_cast<int>(key.size());
  if (key.empty() || key.find('=') != std::string::npos || key.front() == '.' ||
      key.back() == '.' || key.find("..") != std::string::npos)
    source.error(place, width, fmt::format("`{}` is not a key of a fleet file", key),
                 "write a path of keys, such as `train.optimizer.lr`");
  else if (is_reserved(key))
    source.error(place, width,
                 fmt::format("`{}` cannot be varied or tuned: the sweep sets it", key),
                 key == "seed" ? "write `seeds: 6`, or a list of seeds" : "");
}

std::string flow_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "~";
    case Value::Kind::scalar:
      return is_plain(value.text) ? value.text : json_quoted(value.text);
    case Value::Kind::sequence:
      return fmt::format("[{}]", fmt::join(mapped(value.items, flow_text), ", "));
    case Value::Kind::map:
      break;
  }
  const auto entry_text = [](const Value::Entry& entry) {
    return fmt::format("{}: {}", is_plain(entry.key) ? entry.key : json_quoted(entry.key),
                       flow_text(entry.value));
  };
  return fmt::format("{{{}}}", fmt::join(mapped(value.entries, entry_text), ", "));
}

std::vector<SweepSet> sets_of(Source& source, const Value& patch) {
  std::vector<SweepSet> sets;
  if (patch.kind != Value::Kind::map) {
    source.error(patch, "expected keys of the fleet file and their values",
                 "such as `{ network: { latency: 5 ms } }`");
    return sets;
  }
  for (const Value::Entry& entry : patch.entries) add_sets(source, entry.value, entry.key, sets);
  return sets;
}

std::vector<SweepAxis> read_axes(Source& source, const Value* vary) {
  AxesReader reader(source);
  if (vary == nullptr) return {};
  if (vary->kind != Value::Kind::map) {
    source.error(*vary, "expected axes and their values under `vary`");
    return {};
  }
  for (const Value::Entry& entry : vary->entries)
    if (!entry.key.starts_with("x-")) reader.read(entry);
  return std::move(reader.axes);
}

CellPattern read_pattern(Source& source, const Value& value, const std::vector<SweepAxis>& axes) {
  CellPattern pattern;
  if (value.kind != Value::Kind::map || value.entries.empty()) {
    source.error(value, "expected axes and labels, such as `{ method: server, network: dsl }`");
    return pattern;
  }
  for (const Value::Entry& entry : value.entries) {
    const auto axis = std::ranges::find(axes, entry.key, &SweepAxis::name);
    if (axis == axes.end()) {
      source.error(entry.place, static_cast<int>(entry.key.size()),
                   fmt::format("no axis is called `{}`", entry.key),
                   suggestion(entry.key, mapped(axes, &SweepAxis::name)));
      continue;
    }
    const std::vector<Value> items = entry.value.kind == Value::Kind::sequence
                                         ? entry.value.items
                                         : std::vector<Value>{entry.value};
    for (const Value& item : items) {
      const std::string label = flow_text(item);
      if (std::ranges::count(axis->values, label, &SweepValue::label) == 0)
        source.error(item, fmt::format("axis `{}` has no value `{}`", axis->name, label),
                     suggestion(label, mapped(axis->values, &SweepValue::label)));
      pattern[axis->name].push_back(label);
    }
  }
  return pattern;
}

std::optional<std::vector<SweepCell>> cells_of(const std::vector<SweepAxis>& axes,
                                               const std::vector<CellPattern>& skip) {
  std::vector<SweepCell> cells(1);
  for (const SweepAxis& axis : axes) {
    if (cells.size() * axis.values.size() > most_sweep_cells) return std::nullopt;
    std::vector<SweepCell> wider;
    for (const SweepCell& cell : cells) {
      for (const SweepValue& value : axis.values) {
        wider.push_back(cell);
        wider.back().labels[axis.name] = value.label;
        wider.back().sets.insert(wider.back().sets.end(), value.sets.begin(), value.sets.end());
      }
    }
    cells = std::move(wider);
  }
  std::erase_if(cells, [&](const SweepCell& cell) {
    return std::ranges::any_of(
        skip, [&](const CellPattern& pattern) { return matches(pattern, cell.labels); });
  });
  return cells;
}

bool matches(const CellPattern& pattern, const std::map<std::string, std::string>& labels) {
  return std::ranges::all_of(pattern, [&](const auto& wanted) {
    const auto at = labels.find(wanted.first);
    return at != labels.end() && std::ranges::count(wanted.second, at->second) > 0;
  });
}

}  // namespace gv
