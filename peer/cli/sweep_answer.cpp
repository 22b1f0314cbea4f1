#include "peer/cli/sweep_answer.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/answer_page.h"
#include "peer/record/runs/stored_run.h"
#include "peer/runtime/exit_code.h"
#include "peer/show/page/answer_picture.h"
#include "peer/show/page/map_figure.h"
#include "peer/show/page/picture_file.h"
#include "peer/study/compare/comparison_text.h"
#include "peer/study/compare/expectations.h"
#include "peer/study/compare/map_text.h"
#include "peer/study/compare/run_map.h"

namespace gv::cli {
namespace {

CompareOptions options_of(const SweepFile& file) {
  CompareOptions options{.target = file.target, .by = {}};
  for (std::size_t axis = 1; axis < file.axes.size(); ++axis)
    if (file.axes[axis].values.size() > 1) options.by.push_back(file.axes[axis].name);
  return options;
}

/// The columns of the table that its picture needs and that are not there anyway.
std::vector<Measure> columns_of(const SweepFile& file) {
  if (!file.picture || file.picture->map || file.picture->y == "speed-up") return {};
  return {measure_named(file.picture->y)};
}

/// The runs of a sweep, apart by its axes and all together.
struct Answer {
  Comparison apart;
  Comparison whole;
};

/// Judges each section where a name is clear within each of them, else all runs together.
JudgedClaim judge(const Answer& answer, const ExpectedClaim& claim) {
  if (answer.apart.by.empty() || !claim.where.empty()) return judge_claim(answer.apart, claim);
  try {
    return judge_claim(answer.apart, claim);
  } catch (const std::invalid_argument&) {
    return judge_claim(answer.whole, claim);
  }
}

/// Draws the map of each section, or none if the file asks for another picture. The runs belong to
/// the user's own sweep, so their files are trusted.
std::vector<FirstMap> maps_of(const SweepFile& file,
                              const std::vector<StoredRun>& runs,
                              const CompareOptions& options) {
  if (!file.picture || !file.picture->map) return {};
  CompareOptions own = options;
  own.trust = true;
  return map_runs(runs, own, [](std::size_t, std::size_t) {});
}

std::string map_file(const SweepFile& file, const std::vector<FirstMap>& maps) {
  std::vector<PicturePanel> panels;
  for (const FirstMap& map : maps) panels.push_back({map.name, map_picture(map)});
  return picture_file(file.name, panels);
}

std::string picture_of(const SweepFile& file,
                       const Answer& answer,
                       const std::vector<FirstMap>& maps) {
  if (!maps.empty()) return map_file(file, maps);
  if (!file.picture) return race_picture(answer.apart, file.name);
  const SweepPicture& p = *file.picture;
  return axis_picture(answer.whole, {p.x, p.name, p.y, p.model}, file.name);
}

}  // namespace

int write_answer(const SweepPlan& plan, const SweepFolder& folder) {
  std::vector<ExpectedClaim> claims;
  for (const std::string& text : plan.file.expect) claims.push_back(parse_claim(text));
  const RunList list = read_runs({folder.path()}, [](std::size_t, std::size_t) {});
  for (const std::string& reason : list.left_out) fmt::print(stderr, "left out: {}\n", reason);
  const CompareOptions options = options_of(plan.file);
  const Answer answer{compare_runs(list.runs, options),
                      compare_runs(list.runs, {.target = options.target, .by = {}})};
  std::string text = comparison_markdown(answer.apart, columns_of(plan.file));
  const std::vector<FirstMap> maps = maps_of(plan.file, list.runs, options);
  for (const FirstMap& map : maps) text += fmt::format("\n{}", map_markdown(map));
  bool held = true;
  if (!claims.empty()) text += "\n";
  for (const ExpectedClaim& claim : claims) {
    const JudgedClaim judged = judge(answer, claim);
    held = held && judged.verdict == JudgedClaim::Verdict::passed;
    text += fmt::format("- `{}`: {}. {}\n", judged.text, name_of(judged.verdict), judged.reason);
  }
  const std::filesystem::path file = plan.file.path;
  const AnswerPage page(file.parent_path().string(), file.stem().string());
  page.write(text);
  page.draw(picture_of(plan.file, answer, maps));
  fmt::print("{}wrote {} and {}\n", text, page.page(), page.picture());
  return held ? exit_code::done : exit_code::check_failed;
}

}  // namespace gv::cli
