#include "optim/data/table/table_problems.h"

#include <algorithm>

#include "optim/data/field.h"

namespace gv {
namespace {

constexpr std::size_t most_entries = 20;
constexpr std::size_t most_words = 4;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

}  // namespace

TableError::TableError(std::vector<std::string> problems)
    : std::runtime_error(joined(problems)), problems_(std::move(problems)) {}

TableProblems::Entry* TableProblems::find(std::size_t column, Fault fault) {
  const auto it = std::ranges::find_if(entries_, [&](const Entry& e) {
    return e.of_rows && e.column == column && e.fault == fault;
  });
  return it == entries_.end() ? nullptr : &*it;
}

void TableProblems::add(std::string text) {
  if (entries_.size() == most_entries)
    ++left_out_;
  else
    entries_.push_back({.text = std::move(text), .words = {}});
}

void TableProblems::add(std::size_t column, Fault fault, std::string text) {
  if (Entry* const known = find(column, fault)) {
    ++known->more;
  } else if (entries_.size() == most_entries) {
    ++left_out_;
  } else {
    entries_.push_back(
        {.column = column, .fault = fault, .of_rows = true, .text = std::move(text), .words = {}});
  }
}

void TableProblems::add(std::size_t column, Fault fault, std::string_view word, std::string text) {
  add(column, fault, std::move(text));
  Entry* const entry = find(column, fault);
  if (entry == nullptr || entry->words.size() == most_words) return;
  const std::string told = shown(word);
  if (std::ranges::find(entry->words, told) == entry->words.end()) entry->words.push_back(told);
}

void TableProblems::refuse() const {
  if (!any()) return;
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    std::string line = entry.text;
    if (entry.more > 0) {
      line += " (and in " + std::to_string(entry.more) + " row" + (entry.more == 1 ? "" : "s") +
              " more";
      for (std::size_t k = 1; k < entry.words.size(); ++k)
        line += (k == 1 ? ": " : ", ") + entry.words[k];
      line += ")";
    }
    lines.push_back(std::move(line));
  }
  if (left_out_ > 0) lines.push_back("and more of other columns");
  throw TableError(std::move(lines));
}

}  // namespace gv
