#include <algorithm>
#include <cmath>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/reference/key_table.h"
#include "tests/peer/fleet/keys/key_fixture.h"

// `explain` and docs/fleet-file.md name ranges, and so do the readers. A value just inside must be
// accepted, and one just outside must be refused with the same two numbers.

namespace gv {
namespace {

struct Range {
  double least = 0, most = 0;
  bool whole = false;
};

double number_in(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

/// Returns the range in "a whole number, 1 to 1,000,000" or "between 0 and 1".
std::optional<Range> range_in(const std::string& takes) {
  static const std::string number = "(-?[0-9][0-9,.]*(?:e[-+]?[0-9]+)?)";
  static const std::regex ends(number + " (?:to|and) " + number);
  std::smatch match;
  if (!std::regex_search(takes, match, ends)) return std::nullopt;
  static const std::regex counted(
      "whole "
      "number|samples|rounds|steps|evaluations|characters|bytes|transitions|gradients|frames");
  return Range{.least = number_in(match[1]),
               .most = number_in(match[2]),
               .whole = std::regex_search(takes, counted)};
}

/// Returns the range that one of the problems names.
std::optional<Range> refused_by(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems)
    if (problem.find("out of range") != std::string::npos)
      return range_in(problem.substr(problem.find("out of range")));
  return std::nullopt;
}

std::string number_text(double value, bool whole) {
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.15g}", value);
}

/// Returns the example with another value for the key, or "" if its value is not a number.
std::string with_value(const KeyRow& row, const std::string& value) {
  const std::string key = row.key.substr(row.key.rfind('.') + 1) + ": ";
  const std::size_t at = row.example.rfind(key) + key.size();
  const bool list = row.example[at] == '[';
  const std::size_t end = std::min(
      row.example.find_first_of(list ? "]" : ",}", at) + (list ? 1 : 0), row.example.size());
  const std::string old = row.example.substr(at, end - at);
  static const std::regex number("-?[0-9.e-]+( %)? *|\\[[-0-9., ]+\\]");
  if (!std::regex_match(old, number)) return "";
  return row.example.substr(0, at) + (list ? "[" + value + "]" : value + " ") +
         row.example.substr(end);
}

class KeyRange : public KeyTable {
 protected:
  void expect_refused(const std::string& line, const Range& range) const {
    const std::optional<Range> said = refused_by(problems(line));
    ASSERT_TRUE(said.has_value()) << line << " is not refused";
    EXPECT_DOUBLE_EQ(said->least, range.least) << line;
    EXPECT_DOUBLE_EQ(said->most, range.most) << line;
  }
  void expect_in_range(const std::string& line) const {
    const std::optional<Range> said = refused_by(problems(line));
    EXPECT_FALSE(said.has_value()) << line << " is refused";
  }
  /// `with` returns the line of a fleet file with a value.
  template <class With>
  void expect_held(const Range& range, const With& with) const {
    expect_in_range(with(number_text(range.least, range.whole)));
    expect_in_range(with(number_text(range.most, range.whole)));
    const double step = std::max(range.most / 1000, 1e-3);
    expect_refused(with(number_text(range.whole ? range.most + 1 : range.most + step, range.whole)),
                   range);
    if (range.whole && range.least < 1) return;  // a whole number has no sign here
    const double below = range.least > 0 ? range.least / 2 : range.least - 1;
    expect_refused(with(number_text(range.whole ? range.least - 1 : below, range.whole)), range);
  }
};

TEST_F(KeyRange, IsTheReadersOwn) {
  std::size_t held = 0;
  for (const KeyRow& row : fleet_file_keys()) {
    const std::optional<Range> range = range_in(row.takes);
    if (!range || with_value(row, "1").empty()) continue;
    expect_held(*range, [&](const std::string& value) { return with_value(row, value); });
    ++held;
  }
  EXPECT_GT(held, 40U);
}

/// If the reader has a range, the reference names it.
TEST_F(KeyRange, IsNamedWhereTheReaderHasOne) {
  for (const KeyRow& row : fleet_file_keys()) {
    static const std::regex by_the_fleet("by the kind|number of peers|peers?'s? number");
    if (std::regex_search(row.takes, by_the_fleet) || range_in(row.takes) ||
        with_value(row, "1").empty())
      continue;
    for (const char* value : {"1e300", "-1e300", "18446744073709551615"})
      EXPECT_FALSE(refused_by(problems(with_value(row, value))).has_value())
          << row.key << " takes " << row.takes << ", and refuses " << value;
  }
}

/// Covers options with one name in several methods.
TEST_F(KeyRange, OfEachMethodIsTheReadersOwn) {
  std::size_t held = 0;
  for (const AlgorithmRow* row : algorithms())
    for (const Option& option : row->options) {
      if (!option.words.empty()) continue;
      const std::string order = row->order.empty() ? "" : fmt::format(", order: {}", row->order);
      expect_held({.least = option.least, .most = option.most, .whole = option.whole},
                  [&](const std::string& value) {
                    return fmt::format("algorithm: {{ kind: {}{}, {}: {} }}", row->kind, order,
                                       option.name, value);
                  });
      ++held;
    }
  EXPECT_GT(held, 15U);
}

/// The range of a data key depends on the kind of data.
TEST_F(KeyRange, OfEachKindOfDataIsTheReadersOwn) {
  std::size_t held = 0;
  for (const DataKind& row : data_kinds())
    for (const DataKey& key : row.keys) {
      if (!key.number) continue;
      expect_held(
          {.least = key.number->least, .most = key.number->most, .whole = key.number->whole},
          [&](const std::string& value) {
            return fmt::format("data: {{ kind: {}, {}: {} }}", row.kind, key.name, value);
          });
      ++held;
    }
  EXPECT_GT(held, 25U);
}

/// The ranges of graph and schedule parameters are the readers' too.
TEST_F(KeyRange, OfEachGraphIsTheReadersOwn) {
  std::size_t held = 0;
  const auto hold = [&](std::string_view family, std::span<const GraphParameter> rows) {
    for (const GraphParameter& row : rows) {
      const bool whole = row.kind == GraphParameter::Kind::count;
      if (!whole && row.kind != GraphParameter::Kind::number) continue;
      expect_held({.least = row.least, .most = row.most, .whole = whole},
                  [&](const std::string& value) {
                    return fmt::format("topology: {{ kind: {}, {}: {} }}", family, row.name, value);
                  });
      ++held;
    }
  };
  for (const TopologyFamily* family : topology_families()) hold(family->name, family->parameters);
  for (const ScheduleFamily* family : schedule_families()) hold(family->name, family->parameters);
  EXPECT_GT(held, 5U);
}

/// Ranges in words, without two numbers.
TEST_F(KeyRange, InWordsIsTheReadersOwn) {
  const auto refuses = [&](const std::string& line) { return !problems(line).empty(); };
  EXPECT_FALSE(refuses("data: { kind: sparse, features: 50, nonzeros: 50 }"));
  EXPECT_TRUE(refuses("data: { kind: sparse, features: 50, nonzeros: 51 }"));
  EXPECT_FALSE(refuses("data: { kind: sparse, noise: 0.5 }"));
  EXPECT_TRUE(refuses("data: { kind: sparse, noise: 0.6 }"));
  EXPECT_FALSE(refuses("data: { kind: sparse, features: 100000000 }"));
  EXPECT_TRUE(refuses("data: { kind: sparse, features: 100000001 }"));
  EXPECT_TRUE(refuses("data: { kind: teacher, features: 100001 }"));
  EXPECT_TRUE(refuses("faults: { min_peers: 5 }"));
  EXPECT_FALSE(refuses("faults: { min_peers: 4 }"));
  EXPECT_FALSE(refuses("network: { latency: 5 ms, jitter: 5 ms }"));
  EXPECT_TRUE(refuses("network: { latency: 5 ms, jitter: 6 ms }"));
  EXPECT_TRUE(refuses("faults: { heartbeat: 1 s, dead_after: 1.9 s }"));
  EXPECT_FALSE(refuses("launch: { leash: 5 s }"));
  EXPECT_TRUE(refuses("launch: { leash: 4.9 s }"));
  EXPECT_TRUE(refuses("attackers: { count: 4 }"));
  EXPECT_FALSE(refuses("robust: { clip: 1e9 }"));
  EXPECT_TRUE(refuses("robust: { clip: 1.1e9 }"));
  EXPECT_TRUE(refuses("robust: { clip: 1e-10 }"));
  EXPECT_TRUE(refuses("data: { kind: table, file: a.csv, target: y, held_out: 0 }"));
  EXPECT_TRUE(refuses("data: { kind: table, file: a.csv, target: y, held_out: 1 }"));
}

}  // namespace
}  // namespace gv
