#include "peer/show/live/run_finder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "graph/formats/json_value.h"
#include "graph/spec/parameters.h"
#include "optim/machine/cache_home.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/screen.h"
#include "peer/record/run_folder.h"
#include "peer/show/live/live_address.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_command = 10'000;  // a command that is cut does not work

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "run.json", none);
}

fs::file_time_type changed(const fs::path& folder) {
  std::error_code none;
  fs::file_time_type newest = fs::file_time_type::min();
  for (const char* const name : {"run.json", "metrics.jsonl", "summary.json"}) {
    const auto time = fs::last_write_time(folder / name, none);
    if (!none) newest = std::max(newest, time);
  }
  return newest;
}

std::string newest_run() {
  std::vector<std::tuple<bool, fs::file_time_type, std::string>> runs;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("runs", none))
    if (is_run(entry.path()))
      runs.emplace_back(connect_live(entry.path().string()).open(), changed(entry.path()),
                        entry.path().string());
  if (runs.empty())
    throw std::invalid_argument(
        "there is no run in ./runs\nhelp:  name the folder of one: grapevine top PATH");
  return std::get<std::string>(*std::ranges::max_element(runs));
}

/// Finds checkpoints by the names that checkpoint_store.cpp gives them.
std::set<Round> checkpoints_in(const fs::path& folder) {
  std::set<Round> rounds;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".ckpt") continue;
    if (const auto round = as_number<Round>(entry.path().stem().string())) rounds.insert(*round);
  }
  return rounds;
}

std::string test_line(const JsonValue& test) {
  const JsonValue* const accuracy = test.find("accuracy");
  const bool known = accuracy != nullptr && accuracy->kind == JsonValue::Kind::number;
  return fmt::format(
      "\nvalidated  the figures above are of the validation set\ntest       {}loss {:.6g}",
      known ? fmt::format("accuracy {:.4f}, ", json_number(test, "accuracy")) : "",
      json_number(test, "loss"));
}

/// A line about the actors. Before the end of the warm-up there is no ratio.
std::string actors_line(const JsonValue& json) {
  const JsonValue* const ratio = json.find("samples_per_insert");
  const bool known = ratio != nullptr && ratio->kind == JsonValue::Kind::number;
  return fmt::format("\nactors     {} alive; {}{} transitions kept",
                     json_integer<std::uint64_t>(json, "actors"),
                     known ? fmt::format("{:.4g} samples learnt for each transition taken, ",
                                         json_number(json, "samples_per_insert"))
                           : "",
                     json_integer<std::uint64_t>(json, "memory"));
}

std::string summary_lines(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  const JsonValue json = parse_json(text_of_file(path), path);
  const auto rounds = json_integer<Round>(json, "rounds");
  const auto lost = json_integer<std::uint64_t>(json, "lost");
  std::string text = fmt::format(
      "ended      {} rounds in {}, {} peers{}", rounds, seconds_text(json_number(json, "seconds")),
      json_integer<std::uint64_t>(json, "peers"), lost > 0 ? fmt::format(", {} lost", lost) : "");
  const JsonValue* const accuracy = json.find("accuracy");
  if (accuracy != nullptr && accuracy->kind == JsonValue::Kind::number)
    text += fmt::format("\naccuracy   {:.4f} mean model, local models {:.4f} .. {:.4f}",
                        json_number(json, "accuracy"), json_number(json, "accuracy_min"),
                        json_number(json, "accuracy_max"));
  text += fmt::format("\nloss       {:.6g} mean model\nconsensus  {:.3e}",
                      json_number(json, "loss"), json_number(json, "consensus"));
  if (json.find("return") != nullptr)
    text += fmt::format("\nreturn     {:.6g} mean model, {} frames", json_number(json, "return"),
                        json_integer<std::uint64_t>(json, "frames"));
  if (json.find("actors") != nullptr) text += actors_line(json);
  if (const JsonValue* const test = json.find("test")) text += test_line(*test);
  const JsonValue* const r2 = json.find("r2");
  if (r2 != nullptr && r2->kind == JsonValue::Kind::number)
    text += fmt::format(
        "\n{}", score_text({.rmse = json_number(json, "rmse"), .r2 = json_number(json, "r2")}));
  return text;
}

/// Describes the end of a run that has left no summary.
std::string last_words(const std::string& folder) {
  std::string text = fmt::format(
      "ended      without a summary: it was killed, or no peer finished; what the peers said is "
      "in\n           {}/peers/*/stderr.log",
      printable(folder, 200));
  if (!fs::exists(folder + "/metrics.jsonl")) return text;
  const std::vector<MetricsRow> rows = read_metrics(folder + "/metrics.jsonl");
  if (rows.empty()) return text + "\nevaluated  never";
  const MetricsRow& last = rows.back();
  text += fmt::format("\nevaluated  round {} after {}: loss {:.4g}", last.round,
                      seconds_text(last.seconds), last.loss);
  return last.accuracy ? text + fmt::format(", accuracy {:.4f}", *last.accuracy) : text;
}

std::set<Round> common_checkpoints(const std::string& folder) {
  std::optional<std::set<Round>> common;
  std::error_code none;
  for (const auto& peer : fs::directory_iterator(folder + "/peers", none)) {
    const std::set<Round> rounds = checkpoints_in(peer.path() / "checkpoints");
    if (!common) {
      common = rounds;
    } else {
      std::erase_if(*common, [&](Round round) { return !rounds.contains(round); });
    }
  }
  return common.value_or(std::set<Round>{});
}

/// Returns the round that newest_common_round (resume.h) chooses after looking into the files.
std::optional<Round> resume_round(const std::string& folder) {
  const std::set<Round> common = common_checkpoints(folder);
  const std::optional<Round> held = round_before_loss(folder);
  if (held && common.contains(*held)) return held;
  return common.empty() ? std::nullopt : std::optional(*common.rbegin());
}

}  // namespace

std::string find_run(const std::string& wanted) {
  if (wanted.empty()) return newest_run();
  for (const std::string& folder : {wanted, fmt::format("runs/{}", wanted)})
    if (is_run(folder)) return folder;
  throw std::invalid_argument(
      fmt::format("{}: not the folder of a run (it has no run.json)", printable(wanted, 200)));
}

std::optional<Round> common_checkpoint(const std::string& folder) {
  const std::set<Round> common = common_checkpoints(folder);
  return common.empty() ? std::nullopt : std::optional(*common.rbegin());
}

std::string resume_line(const std::string& folder) {
  if (const auto round = resume_round(folder))
    return fmt::format("resume     grapevine run --resume {}   (from round {})",
                       printable(shell_path(folder), longest_command), *round);
  return "resume     not possible without a checkpoint: set checkpoint.every, or ask for\n"
         "           one while it runs: grapevine checkpoint RUN";
}

std::string end_of_run(const std::string& folder) {
  const bool summary = fs::exists(folder + "/summary.json");
  std::string text = fmt::format("{}\n{}", printable(folder, 200),
                                 summary ? summary_lines(folder) : last_words(folder));
  if (fs::exists(folder + "/model.safetensors"))
    text += fmt::format("\nsaved      {}/model.safetensors", printable(folder, 200));
  if (common_checkpoint(folder)) text += fmt::format("\n{}", resume_line(folder));
  return text;
}

}  // namespace gv
