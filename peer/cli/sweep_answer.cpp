#include "peer/cli/sweep_answer.h"

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "peer/compare/comparison_text.h"
#include "peer/compare/expectations.h"
#include "peer/runs/run_list.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

constexpr std::string_view first_mark = "<!-- answer -->\n";
constexpr std::string_view last_mark = "<!-- end of answer -->";
constexpr std::size_t largest_page = std::size_t{1} << 20;

std::optional<CompareTarget> target_of(const SweepFile& file) {
  if (!file.target) return std::nullopt;
  const std::string figure = file.target->accuracy ? "accuracy" : "loss";
  const std::string of = file.target->of == "mean" ? "" : "." + file.target->of;
  return parse_target(
      fmt::format("{}{}={} for {}", figure, of, file.target->value, file.target->in_a_row));
}

CompareOptions options_of(const SweepFile& file) {
  CompareOptions options{.target = target_of(file), .by = {}};
  for (std::size_t axis = 1; axis < file.axes.size(); ++axis)
    if (file.axes[axis].values.size() > 1) options.by.push_back(file.axes[axis].name);
  return options;
}

/// Only whole lines between the marks change.
void rewrite(const std::string& path, const std::string& answer) {
  const std::optional<std::string> page = read_whole(path, largest_page);
  if (!page) throw std::runtime_error(path + ": cannot be read; the answer goes into it");
  const std::size_t begin = page->find(first_mark);
  const std::size_t end = page->find(last_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    throw std::runtime_error(
        fmt::format("{}: there is no place for the answer\nhelp:  write the lines `{}` and `{}`",
                    path,
                    first_mark.substr(0, first_mark.size() - 1),
                    last_mark));
  const std::size_t from = begin + first_mark.size();
  write_whole(path, page->substr(0, from) + answer + page->substr(end));
}

}  // namespace

int write_answer(const SweepPlan& plan, const SweepFolder& folder) {
  std::vector<ExpectedClaim> claims;
  for (const std::string& text : plan.file.expect) claims.push_back(parse_claim(text));
  const RunList list = read_runs({folder.path()}, [](std::size_t, std::size_t) {});
  for (const std::string& reason : list.left_out) fmt::print(stderr, "left out: {}\n", reason);
  const Comparison comparison = compare_runs(list.runs, options_of(plan.file));
  std::string answer = comparison_markdown(comparison, {});
  bool held = true;
  if (!claims.empty()) answer += "\n";
  for (const ExpectedClaim& claim : claims) {
    const JudgedClaim judged = judge_claim(comparison, claim);
    held = held && judged.verdict == JudgedClaim::Verdict::passed;
    answer += fmt::format("- `{}`: {}. {}\n", judged.text, name_of(judged.verdict), judged.reason);
  }
  const std::string page =
      (std::filesystem::path(plan.file.path).parent_path() / "README.md").string();
  rewrite(page, answer);
  fmt::print("{}wrote {}\n", answer, page);
  return held ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
