#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/nearest.h"
#include "peer/cli/command.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/study/sweep/plan/sweep_file.h"

namespace gv::cli {
namespace {

struct ExplainArguments {
  std::string key;
  bool json = false;
};

using KeyRows = std::vector<const KeyRow*>;

/// Returns the row of the key and of the keys below it; or of all keys with this ending, as `lr`
/// for train.optimizer.lr.
KeyRows rows_for(const std::string& key) {
  KeyRows found, endings;
  for (const std::vector<KeyRow>* file : {&fleet_file_keys(), &sweep_file_keys()}) {
    for (const KeyRow& row : *file) {
      if (key.empty() || row.key == key || row.key.starts_with(key + ".")) found.push_back(&row);
      if (row.key.ends_with("." + key)) endings.push_back(&row);
    }
  }
  return found.empty() ? endings : found;
}

[[noreturn]] void refuse(const std::string& key) {
  std::vector<std::string> known;
  for (const KeyRow& row : fleet_file_keys()) known.push_back(row.key);
  std::string guess = nearest(key, known);
  for (const KeyRow& row : fleet_file_keys())
    if (const std::string last = row.key.substr(row.key.rfind('.') + 1);
        guess.empty() && nearest(key.substr(key.rfind('.') + 1), {last}) == last)
      guess = row.key;
  throw std::invalid_argument(fmt::format("a fleet file has no key `{}`\nhelp:  {}", key,
                                          did_you_mean(guess, "grapevine explain lists all keys")));
}

void print_line(const char* head, const std::string& text) {
  if (text.empty()) return;
  console::print_wrapped(fmt::format("  {:<9}{}", head, text), 11);
}

void print_whole(const KeyRow& row) {
  fmt::print("{}\n", row.key);
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = row.meaning.find('\n', begin);
    console::print_wrapped("  " + row.meaning.substr(begin, end - begin), 4);
  }
  print_line("values", row.takes);
  print_line("default", row.usual);
  fmt::print("  {:<9}{}\n", "example", row.example);
}

/// Prints one line of a list: the key and its meaning.
void print_short(const KeyRow& row) {
  const std::string first = row.meaning.substr(0, row.meaning.find('\n'));
  console::print_wrapped(fmt::format("  {:<34} {}", row.key, first), 37);
}

void print_keys(const ExplainArguments& arguments, const KeyRows& rows) {
  if (arguments.key.empty()) {
    for (const KeyRow* row : rows) print_short(*row);
    fmt::print("\ngrapevine explain KEY shows one key in full, and the keys below it\n");
    return;
  }
  const bool one = rows.front()->key == arguments.key || rows.size() == 1;
  if (one) print_whole(*rows.front());
  if (rows.size() == 1) return;
  fmt::print("{}", one ? "\nkeys below it:\n" : "");
  for (std::size_t k = one ? 1 : 0; k < rows.size(); ++k) print_short(*rows[k]);
}

int explain(const ExplainArguments& arguments) {
  const KeyRows rows = rows_for(arguments.key);
  if (rows.empty()) refuse(arguments.key);
  if (!arguments.json) {
    print_keys(arguments, rows);
    return exit_code::done;
  }
  const Json keys = mapped(rows, [](const KeyRow* row) {
    return Json{{"key", row->key},
                {"takes", row->takes},
                {"usual", row->usual},
                {"meaning", row->meaning},
                {"example", row->example}};
  });
  console::print({{"schema", "grapevine.keys/1"}, {"keys", keys}});
  return exit_code::done;
}

void explain_options(Options& options, ExplainArguments& arguments) {
  options.value("KEY", arguments.key,
                "Key, such as train.optimizer.lr, or its last word alone; default: all keys");
  options.json(arguments.json);
}

}  // namespace

Command explain_command() {
  return command("explain", "Show the meaning, values and default of a key of the fleet file",
                 "  grapevine explain\n"
                 "  grapevine explain data.partition\n"
                 "  grapevine explain lr",
                 explain_options, explain);
}

}  // namespace gv::cli
