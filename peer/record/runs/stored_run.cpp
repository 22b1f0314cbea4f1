#include "peer/record/runs/stored_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "graph/formats/file_error.h"
#include "graph/formats/graph_file.h"
#include "graph/formats/json_value.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/record/runs/peer_totals.h"

namespace gv {
namespace {

constexpr std::uint64_t largest_about = 8U << 20;
constexpr std::uint64_t largest_metrics = 512U << 20;
constexpr std::size_t most_evaluations = 1'000'000;
constexpr std::size_t most_keys = 100'000;
constexpr std::size_t longest_value = 1000;
/// Exit codes of runs that reached their end: done, not finite, peers lost, not fully saved.
constexpr int good_ends[] = {0, 1, 3, 6};

[[noreturn]] void refuse_run(const std::string& path, const std::string& reason) {
  throw UnusableRun(printable(path + ": " + reason, 1000));
}

JsonValue document(const std::string& path, std::uint64_t most, const std::string& missing) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) refuse_run(path, missing);
  return parse_json(file_bytes(path, most), path);
}

std::string on_one_line(const std::string& text) {
  std::string line = printable(text, longest_value);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

void read_texts(const JsonValue& object, std::map<std::string, std::string>& into) {
  if (object.kind != JsonValue::Kind::object || object.members.size() > most_keys)
    throw std::runtime_error("the keys are no object of texts");
  for (const auto& [key, value] : object.members) into[on_one_line(key)] = on_one_line(value.text);
}

/// Reads the measurements. A text in place of a number is the reason why it is missing.
void read_end(const JsonValue& ended, StoredRun& run) {
  run.resumed = run.resumed || ended.find("from_round") != nullptr;
  const JsonValue* pressure = ended.find("cpu_pressure");
  if (pressure != nullptr && pressure->kind == JsonValue::Kind::object)
    run.cpu_pressure = stored_fraction(*pressure, "during");
}

/// A continued simulation has its own folder, which holds only the rest of the run.
void read_resumed(const JsonValue& resumed, StoredRun& run) {
  const JsonValue* const whole = resumed.find("whole");
  if (whole == nullptr || !whole->boolean)
    throw std::runtime_error("it is the rest of another run: what came before is not in it");
  run.resumed = true;
}

void read_about(const JsonValue& json, StoredRun& run) {
  const std::string schema = stored_text(json, "schema");
  if (schema != "grapevine.run/2")
    throw std::runtime_error(fmt::format(
        "the schema is {}, and this program compares grapevine.run/2: run it again", schema));
  const std::string kind = stored_text(json, "kind");
  if (kind != "run" && kind != "simulate") refuse_json("kind", "run or simulate");
  run.simulated = kind == "simulate";
  run.name = stored_text(json, "name");
  run.version = stored_text(json, "version");
  run.began = stored_text(json, "began");
  run.algorithm = stored_text(json, "algorithm");
  run.order = stored_text(json, "order");
  run.topology = stored_text(json, "topology");
  run.model = stored_text(json, "model");
  run.data = stored_text(json, "data");
  run.seed = json_integer<std::uint64_t>(json, "seed");
  run.peers = json_integer<std::uint32_t>(json, "peers");
  run.parameters = json_integer<std::uint64_t>(json, "parameters");
  if (run.peers == 0) refuse_json("peers", "at least 1");
  read_texts(json_member(json, "keys"), run.keys);
  if (const JsonValue* hosts = json.find("hosts"))
    for (const JsonValue& host : hosts->items) run.hosts.push_back(printable(host.text, 40));
  if (run.hosts.size() > run.peers) refuse_json("hosts", "one for each peer");
  if (const JsonValue* machine = json.find("machine"))
    run.processor = stored_text(*machine, "processor");
  if (const JsonValue* ended = json.find("ended")) read_end(*ended, run);
  if (const JsonValue* resumed = json.find("resumed")) read_resumed(*resumed, run);
}

/// Reads a line of metrics.jsonl or the summary; both need sent_bytes, by which runs are compared.
MetricsRow read_evaluation(const JsonValue& line, const char* round) {
  MetricsRow row = parse_row(line, round);
  if (!row.sent_bytes) throw std::runtime_error("there is no `sent_bytes`");
  return row;
}

void check_order(const MetricsRow& before, const MetricsRow& e) {
  const bool by_time = before.tick > 0;  // many evaluations may fall into one round
  if (e.round < before.round || (e.round == before.round && !by_time))
    throw std::runtime_error("the rounds go back: was the run resumed? It has more than one clock");
  if (e.seconds < before.seconds || *e.sent_bytes < *before.sent_bytes)
    throw std::runtime_error(
        "seconds or bytes go back: was the run resumed? It has more than one clock");
}

void read_metrics(const std::string& path, StoredRun& run) {
  const std::string text = file_bytes(path, largest_metrics);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    ++number;
    if (line.find("\"event\":\"evaluate\"") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", path, number);
    if (run.evaluations.size() >= most_evaluations) refuse_run(place, "more than a million lines");
    try {
      const MetricsRow e = read_evaluation(parse_json(line, path), "round");
      if (!run.evaluations.empty()) check_order(run.evaluations.back(), e);
      run.evaluations.push_back(e);
    } catch (const GraphFileError&) {
      refuse_run(place, "the line is damaged, or half written");
    } catch (const std::exception& e) {
      refuse_run(place, e.what());
    }
  }
}

/// Returns whether a complete run missed its target. A simulation that broke a rule has the same
/// exit code, but no target.
bool missed_target(const JsonValue& summary, int code) {
  return code == 4 && summary.find("target") != nullptr;
}

void read_summary(const JsonValue& json, StoredRun& run) {
  if (json.find("exit_code") != nullptr) {
    const int code = json_integer<int>(json, "exit_code");
    if (code == 130 || code == 143) throw std::runtime_error("the run was interrupted");
    if (std::ranges::find(good_ends, code) == std::end(good_ends) && !missed_target(json, code))
      throw std::runtime_error(fmt::format("the run failed with exit code {}", code));
  }
  run.rounds = json_integer<std::uint64_t>(json, "rounds");
  run.seconds = stored_amount(json, "seconds");
  run.lost = json_integer<std::uint64_t>(json, "lost");
  if (json.find("r2") != nullptr) run.r2 = stored_number(json, "r2");
  run.rmse = stored_maybe(json, "rmse");
  if (const JsonValue* const test = json.find("test")) {
    run.validated = true;
    run.test_loss = stored_number(*test, "loss");
    run.test_accuracy = stored_fraction(*test, "accuracy");
  }
  const MetricsRow end = read_evaluation(json, "rounds");
  if (run.evaluations.empty() || end.round > run.evaluations.back().round) {
    if (!run.evaluations.empty()) check_order(run.evaluations.back(), end);
    run.evaluations.push_back(end);
  }
}

/// Reads the file that a sweep wrote into the run's folder.
void read_trial(const std::string& path, StoredRun& run) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  const JsonValue json = parse_json(file_bytes(path, largest_about), path);
  run.tuning = stored_text(json, "stage") == "tune";
  if (const JsonValue* values = json.find("values")) read_texts(*values, run.labels);
}

/// Reads the sweep's target from its plan, which changes with the sweep's file.
void read_plan(const std::string& path, StoredRun& run) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  const JsonValue json = parse_json(file_bytes(path, largest_about), path);
  if (json.find("name") != nullptr) run.sweep = stored_text(json, "name");
  if (json.find("target") != nullptr) run.sweep_target = stored_text(json, "target");
}

/// Runs `read`; an error names the file.
template <class Read>
void within(const std::string& path, const Read& read) {
  try {
    read();
  } catch (const UnusableRun&) {
    throw;
  } catch (const GraphFileError& e) {
    throw UnusableRun(printable(e.what(), 1000));  // the text begins with the path
  } catch (const std::exception& e) {
    refuse_run(path, e.what());
  }
}

namespace fs = std::filesystem;

/// Returns "runs/a" for "runs//a/" and "./runs/a".
std::string plain(const fs::path& path) {
  const std::string text = path.lexically_normal().string();
  return text.size() > 1 && text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> inside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) inside.push_back(plain(entry.path()));
  return inside;
}

/// Adds the run folders of an argument, by real path, with the name to show.
void add_folders(const std::string& argument, std::map<std::string, std::string>& paths) {
  const std::string folder = plain(argument);
  if (!fs::is_directory(folder))
    throw std::invalid_argument(
        printable(argument, 300) +
        ": there is no such folder\nhelp:  name the folders that run, simulate or sweep left");
  const auto add = [&](const std::string& path) {
    // A folder may be named twice, also through links.
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    auto [at, is_new] = paths.try_emplace(error ? path : real.string(), path);
    if (!is_new) at->second = std::min(at->second, path);
  };
  if (fs::is_directory(folder + "/trials")) {
    for (const std::string& trial : folders_in(folder + "/trials")) add(trial);
    return;
  }
  // A folder such as `runs` stands for the runs in it.
  bool any = false;
  if (!fs::exists(folder + "/run.json"))
    for (const std::string& inside : folders_in(folder))
      if (fs::exists(inside + "/run.json")) {
        add(inside);
        any = true;
      }
  if (!any) add(folder);
}

struct ReadRun {
  std::optional<StoredRun> run;
  std::string reason;
};

ReadRun read_one(const std::string& path) {
  try {
    return {read_stored_run(path), ""};
  } catch (const UnusableRun& e) {
    return {std::nullopt, e.what()};
  }
}

constexpr std::uint64_t largest_summary = std::uint64_t{1} << 20;

struct StatedUnit {
  std::string_view name;
  double size;
  std::string_view in;
};
constexpr std::array units{StatedUnit{"", 1, ""},
                           StatedUnit{"us", 1e-6, "s"},
                           StatedUnit{"ms", 1e-3, "s"},
                           StatedUnit{"s", 1, "s"},
                           StatedUnit{"min", 60, "s"},
                           StatedUnit{"h", 3600, "s"},
                           StatedUnit{"kbit", 1e-3, "Mbit/s"},
                           StatedUnit{"Mbit", 1, "Mbit/s"},
                           StatedUnit{"Gbit", 1e3, "Mbit/s"},
                           StatedUnit{"kB/s", 8e-3, "Mbit/s"},
                           StatedUnit{"MB/s", 8, "Mbit/s"},
                           StatedUnit{"GB/s", 8e3, "Mbit/s"}};

}  // namespace

StoredRun read_stored_run(const std::string& folder) {
  StoredRun run;
  run.path = folder;
  run.shown = on_one_line(folder);
  const std::string about = folder + "/run.json";
  within(about, [&] {
    read_about(document(about, largest_about, "not there: this is not the folder of a run"), run);
  });
  const std::string trial = folder + "/trial.json";
  within(trial, [&] { read_trial(trial, run); });
  const std::string plan = folder + "/../../plan.json";
  if (!run.labels.empty()) within(plan, [&] { read_plan(plan, run); });
  const std::string summary = folder + "/summary.json";
  within(summary, [&] {
    const JsonValue end = document(summary, largest_metrics, "not there: the run has not ended");
    const std::string metrics = folder + "/metrics.jsonl";
    within(metrics, [&] { read_metrics(metrics, run); });
    read_summary(end, run);
  });
  if (!run.resumed) within(folder + "/peers", [&] { read_totals(folder, run); });
  return run;
}

RunList read_runs(const std::vector<std::string>& folders,
                  const std::function<void(std::size_t done, std::size_t all)>& on_progress) {
  std::map<std::string, std::string> named;
  for (const std::string& folder : folders) add_folders(folder, named);
  std::vector<std::string> paths;
  for (const auto& [real, path] : named) paths.push_back(path);
  std::ranges::sort(paths);
  std::vector<ReadRun> read;
  for (const std::string& path : paths) {
    read.push_back(read_one(path));
    on_progress(read.size(), paths.size());
  }
  RunList list;
  for (ReadRun& one : read) {
    if (!one.run)
      list.left_out.push_back(one.reason);
    else
      (one.run->tuning ? list.tuned : list.runs).push_back(std::move(*one.run));
  }
  std::ranges::sort(list.left_out);
  return list;
}

std::optional<StoredPrediction> read_prediction(const std::string& run_folder) {
  const std::string path = run_folder + "/summary.json";
  try {
    const JsonValue summary = parse_json(file_bytes(path, largest_summary), path);
    const JsonValue* said = summary.find("predicted");
    if (said == nullptr || said->kind != JsonValue::Kind::object) return std::nullopt;
    StoredPrediction predicted;
    if (said->find("consensus") != nullptr)
      predicted.losses = {.consensus = stored_number(*said, "consensus"),
                          .mean = stored_number(*said, "excess_loss_mean"),
                          .local = stored_number(*said, "excess_loss_local")};
    predicted.round_seconds = stored_maybe(*said, "seconds_per_round");
    return predicted;
  } catch (const std::exception& e) {
    throw UnusableRun(printable(fmt::format("{}: {}", path, e.what()), 1000));
  }
}

std::optional<StatedNumber> stated_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto known = std::ranges::find(units, unit, &StatedUnit::name);
  if (known == units.end()) return std::nullopt;
  return StatedNumber{value * known->size, known->in};
}

std::optional<NumberedLabel> numbered_label(const std::string& label) {
  if (const auto number = stated_number(label)) return NumberedLabel{"", *number};
  const std::size_t dash = label.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  const auto number = stated_number(std::string_view(label).substr(dash + 1));
  if (!number) return std::nullopt;
  return NumberedLabel{label.substr(0, dash), *number};
}

LabelOrder label_order(const std::string& label) {
  const auto numbered = numbered_label(label);
  if (!numbered) return {label, "", 0, label};
  return {numbered->name, numbered->number.unit, numbered->number.value, label};
}

}  // namespace gv
