#include "peer/fleet/file/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "graph/spec/nearest.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

bool is_scalar(Source& source, const Value& value, const std::string& wanted) {
  if (value.kind == Value::Kind::scalar) return true;
  const char* found = value.kind == Value::Kind::map        ? "a map"
                      : value.kind == Value::Kind::sequence ? "a list"
                                                            : "nothing";
  source.error(value, fmt::format("expected {}, found {}", wanted, found));
  return false;
}

/// A decimal number and the text after it. Leading zeros, underscores, hexadecimals and words are
/// not numbers here.
struct Quantity {
  double number;
  std::string unit;
};
std::optional<Quantity> split_quantity(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const char* digits = text.data() + (text[0] == '-' ? 1 : 0);
  if (digits + 1 < stop && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
    return std::nullopt;
  std::string unit(stop, end);
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  return Quantity{number, unit};
}

struct Unit {
  const char* name;
  double factor;
};

std::optional<double> with_unit(Source& source,
                                const Value& value,
                                const std::string& what,
                                const std::vector<Unit>& units,
                                const std::string& help) {
  if (!is_scalar(source, value, what)) return std::nullopt;
  if (const std::optional<Quantity> q = split_quantity(value.text); q && q->number >= 0) {
    const auto it = std::ranges::find_if(units, [&](const Unit& u) { return q->unit == u.name; });
    if (it != units.end()) return q->number * it->factor;
    if (q->unit.empty() && q->number == 0) {
      source.error(value, fmt::format("`0` needs a unit: {}", what), help);
      return std::nullopt;
    }
    if (q->unit.empty()) {
      source.error(value,
                   fmt::format("`{}` has no unit: is it `{} {}` or `{} {}`?", value.text,
                               value.text, units[0].name, value.text, units[1].name),
                   help);
      return std::nullopt;
    }
  }
  source.error(value, fmt::format("`{}` is not {}", value.text, what), help);
  return std::nullopt;
}

/// Returns the bound of a range exactly: 0.999999999 is not 1.
std::string end_text(double end) {
  std::string text = fmt::format("{:g}", end);
  return std::stod(text) == end ? text : fmt::format("{}", end);
}

namespace fs = std::filesystem;

/// Returns the path if it is not of the wanted type, followed by the system's error, if any.
std::string not_there(const std::string& path, fs::file_type wanted) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == wanted) return "";
  const bool special =
      fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (special) return path + " (a pipe or a device, not a regular file)";
  if (!error || error == std::errc::no_such_file_or_directory) return path;
  return fmt::format("{} ({})", path, error.message());
}

/// Leaves a long list out if there is a guess, which the list would hide.
std::string one_of(const std::vector<std::string>& choices, const std::string& guess) {
  constexpr std::size_t many = 12;
  if (choices.size() > many && !guess.empty())
    return fmt::format("one of the {} known names", choices.size());
  return fmt::format("one of {}", fmt::join(choices, ", "));
}

}  // namespace

std::optional<double> read_number(Source& source, const Value& value, double least, double most) {
  if (!is_scalar(source, value, "a number")) return std::nullopt;
  const std::optional<Quantity> q = split_quantity(value.text);
  if (!q || !q->unit.empty()) {
    source.error(value, fmt::format("`{}` is not a number", value.text),
                 "decimal digits, without leading zeros or separators");
    return std::nullopt;
  }
  if (q->number < least || q->number > most) {
    source.error(value, fmt::format("{} is out of range: {} to {}", value.text, end_text(least),
                                    end_text(most)));
    return std::nullopt;
  }
  return q->number;
}

std::optional<std::uint64_t> read_count(Source& source,
                                        const Value& value,
                                        std::uint64_t least,
                                        std::uint64_t most) {
  if (!is_scalar(source, value, "a whole number")) return std::nullopt;
  const std::string& text = value.text;
  const auto number = as_number<std::uint64_t>(text);
  const bool leading_zero = text.size() > 1 && text[0] == '0';
  if (!number || leading_zero) {
    source.error(value, fmt::format("`{}` is not a whole number", text),
                 leading_zero ? "without leading zeros: they mean octal elsewhere"
                              : "decimal digits, without separators, sign or unit");
    return std::nullopt;
  }
  if (*number < least || *number > most) {
    source.error(value, fmt::format("{} is out of range: {} to {}", *number, least, most));
    return std::nullopt;
  }
  return number;
}

std::optional<std::uint64_t> read_count(Source& source, const Value& value, std::string_view key) {
  const Takes& range = key_range(key);
  return read_count(source, value, static_cast<std::uint64_t>(range.least),
                    static_cast<std::uint64_t>(range.most));
}

std::optional<double> read_number(Source& source, const Value& value, std::string_view key) {
  const Takes& range = key_range(key);
  return read_number(source, value, range.least, range.most);
}

std::optional<bool> read_bool(Source& source, const Value& value) {
  if (value.kind == Value::Kind::scalar && (value.text == "true" || value.text == "false"))
    return value.text == "true";
  source.error(value, fmt::format("`{}` is neither true nor false", value.text),
               "write `true` or `false`; yes, no, on and off are words here");
  return std::nullopt;
}

std::optional<std::string> read_word(Source& source, const Value& value) {
  if (!is_scalar(source, value, "a word")) return std::nullopt;
  if (value.text.empty()) {
    source.error(value, "expected a word, found nothing");
    return std::nullopt;
  }
  return value.text;
}

std::optional<std::string> read_choice(Source& source,
                                       const Value& value,
                                       const std::vector<std::string>& choices) {
  const std::optional<std::string> word = read_word(source, value);
  if (!word || std::ranges::find(choices, *word) != choices.end()) return word;
  const std::string guess = nearest(*word, choices);
  source.error(value, fmt::format("`{}` is not {}", *word, one_of(choices, guess)),
               did_you_mean(guess));
  return std::nullopt;
}

std::vector<double> read_numbers(Source& source, const Value& list, double least, double most) {
  if (list.kind != Value::Kind::sequence || list.items.empty()) {
    source.error(list, "expected a list of numbers, such as [1, 0.5]");
    return {1};
  }
  std::vector<double> numbers;
  for (const Value& item : list.items)
    numbers.push_back(read_number(source, item, least, most).value_or(1));
  return numbers;
}

std::optional<double> read_fraction(Source& source, const Value& value) {
  if (value.kind == Value::Kind::scalar) {
    const std::optional<Quantity> q = split_quantity(value.text);
    if (q && q->unit == "%" && q->number >= 0 && q->number <= 100) return q->number / 100;
  }
  return read_number(source, value, 0, 1);
}

std::optional<Time> read_duration(Source& source, const Value& value) {
  const std::optional<double> seconds = with_unit(
      source, value, "a duration", {{"ms", 1e-3}, {"s", 1}, {"us", 1e-6}, {"min", 60}, {"h", 3600}},
      "write a number and a unit, such as `5 ms`, `1.5 s`, `10 min` or `1 h`");
  if (!seconds) return std::nullopt;
  if (*seconds > 1e9) {
    source.error(value, fmt::format("`{}` is longer than 30 years", value.text));
    return std::nullopt;
  }
  return Time{static_cast<std::int64_t>(std::llround(*seconds * 1e9))};
}

std::optional<double> read_bandwidth(Source& source, const Value& value) {
  if (value.kind == Value::Kind::scalar && value.text == "unlimited") return 0;
  return with_unit(source, value, "a bandwidth",
                   {{"Mbit", 1e6 / 8},
                    {"MB/s", 1e6},
                    {"kbit", 1e3 / 8},
                    {"Gbit", 1e9 / 8},
                    {"kB/s", 1e3},
                    {"GB/s", 1e9},
                    {"kbit/s", 1e3 / 8},
                    {"Mbit/s", 1e6 / 8},
                    {"Gbit/s", 1e9 / 8}},
                   "write a number and a unit, such as `100 Mbit` (bits per second) or `12.5 MB/s` "
                   "(bytes per second)");
}

std::optional<double> read_flops(Source& source, const Value& value) {
  return with_unit(source, value, "a compute speed",
                   {{"GFLOP/s", 1e9}, {"MFLOP/s", 1e6}, {"TFLOP/s", 1e12}},
                   "write a number and a unit, such as `50 GFLOP/s`");
}

std::optional<Every> read_every(Source& source,
                                const Value& value,
                                const std::vector<std::string>& units) {
  if (!is_scalar(source, value, "a count and its unit")) return std::nullopt;
  const std::string help =
      fmt::format("write a count and a unit, such as `100 {}s`; units here: {}", units[0],
                  fmt::join(units, ", "));
  const std::optional<Quantity> q = split_quantity(value.text);
  if (q && q->number > 0) {
    for (const std::string& unit : units) {
      if (q->unit == unit || q->unit == unit + "s") return Every{q->number, unit};
    }
  }
  source.error(value, fmt::format("`{}` is not a count with its unit", value.text), help);
  return std::nullopt;
}

MapReader::MapReader(Source& source, const Value* value, std::string path, bool short_kind)
    : source_(source), value_(value), path_(std::move(path)) {
  if (value_ == nullptr || value_->kind == Value::Kind::map) return;
  if (short_kind && value_->kind == Value::Kind::scalar) {
    expanded_.kind = Value::Kind::map;
    expanded_.place = value_->place;
    expanded_.entries = {{"kind", value_->place, *value_}};
    value_ = &expanded_;
    return;
  }
  if (path_.empty())
    source_.error(Place{1, 1, value_->place.set}, 1, "expected keys and values",
                  "begin with `version: 1`; `grapevine init` writes a first fleet file");
  else
    source_.error(*value_, fmt::format("expected keys and values under `{}`", path_));
  value_ = nullptr;
}

const Value* MapReader::take(const std::string& key, std::string_view usual) {
  known_.push_back(key);
  source_.note_key(path_, key);
  if (value_ == nullptr) return nullptr;
  const Value::Entry* entry = value_->find(key);
  if (entry == nullptr) return nullptr;
  if (entry->value.kind == Value::Kind::null) {
    source_.error(entry->place, static_cast<int>(key.size()),
                  fmt::format("`{}` has no value", key));
    return nullptr;
  }
  const bool is_usual = entry->value.kind == Value::Kind::scalar && entry->value.text == usual;
  return is_usual && !usual.empty() ? nullptr : &entry->value;
}

/// Suggests a key with this name elsewhere before a key with another name here.
std::string MapReader::help_for(const std::string& unknown) const {
  constexpr std::size_t few = 3;
  std::vector<std::string> guesses = source_.places_of(path_, unknown);
  if (guesses.empty() || guesses.size() > few) guesses = {nearest(unknown, known_)};
  if (guesses.front().empty()) return fmt::format("known keys: {}", fmt::join(known_, ", "));
  return did_you_mean(fmt::format("{}", fmt::join(guesses, "` or `")));
}

void MapReader::finish() {
  if (value_ == nullptr) return;
  for (const Value::Entry& entry : value_->entries) {
    if (entry.key.starts_with("x-") || std::ranges::find(known_, entry.key) != known_.end())
      continue;
    const std::string where = path_.empty() ? "" : fmt::format(" in `{}`", path_);
    source_.error(entry.place, static_cast<int>(entry.key.size()),
                  fmt::format("unknown key `{}`{}", entry.key, where),
                  source_.full() ? "" : help_for(entry.key));
  }
}

std::string with_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return home + path.substr(1);
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> room(1U << 14);
  ::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found);
  return found != nullptr ? entry.pw_dir + path.substr(1) : path;
}

std::string read_path(Source& source, const Value& value, const fs::path& folder) {
  const auto path = read_word(source, value);
  return path ? (folder / with_home(*path)).lexically_normal().string() : "";
}

std::string no_file(const std::string& path) {
  return not_there(path, fs::file_type::regular);
}

std::string no_folder(const std::string& path) {
  return not_there(path, fs::file_type::directory);
}

}  // namespace gv
