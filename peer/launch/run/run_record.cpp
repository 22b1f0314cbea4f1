#include "peer/launch/run/run_record.h"

#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "graph/formats/json_value.h"
#include "optim/machine/cache_home.h"
#include "optim/machine/workers.h"
#include "optim/printable.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/warnings.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/save_model.h"

namespace gv {
namespace {

constexpr const char* room_name = "room-for-the-summary";

std::string graph_name(const Fleet& fleet) {
  return fleet.schedule ? to_string(*fleet.schedule) : to_string(fleet.topology);
}

Json machine_json() {
  const MachineFacts machine = machine_facts();
  return {{"processor", machine.processor},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes}};
}

constexpr std::size_t longest_name = 100;

/// Reads the name that x86 has in this file; ARM's file has no name of the processor.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return printable(line.substr(colon + 2), longest_name);
  }
  return "unknown";
}

/// Returns how exact an accuracy on a small test set is, or "": a goal may be met by luck.
std::string exactness_text(const Assembly& fleet, const TargetSpec& aim) {
  const Dataset* set = fleet.looked_at().get();
  if (aim.figure != TargetSpec::Figure::accuracy || set == nullptr || set->is_text()) return "";
  const double error = std::sqrt(aim.value * (1 - aim.value) / set->rows);
  if (!(error > 0.01)) return "";
  return fmt::format("; its standard error on {} rows is {:.2g}", set->rows, error);
}

}  // namespace

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Json run_json(const Assembly& fleet, const RunOrigin& origin, const FlatKeys& keys) {
  const Fleet& f = fleet.fleet;
  Json json{{"schema", "grapevine.run/2"},
            {"kind", origin.kind},
            {"name", f.name},
            {"version", origin.version},
            {"began", now_text()},
            {"seed", f.seed},
            {"peers", f.size()},
            {"algorithm", fleet.algorithm->kind},
            {"order", fleet.algorithm->order},
            {"topology", graph_name(f)},
            {"model", f.model.kind},
            {"data", f.data.kind},
            {"parameters", fleet.dimension}};
  if (f.program) json["program"] = f.program->command;
  // If only time or a target ends the run, there is no last round.
  const bool endless = fleet.rounds == std::numeric_limits<Round>::max();
  json["rounds"] = endless ? Json() : Json(fleet.rounds);
  json["digest"] = f.digest;
  json["bits"] = bits_of(f);
  json["keys"] = Json::members(keys);
  if (const std::vector<std::string> hosts = host_names(f); !hosts.empty()) json["hosts"] = hosts;
  json["machine"] = machine_json();
  json["file"] = std::filesystem::absolute(origin.file).string();
  json["sets"] = origin.sets;
  if (origin.resumed)
    json["resumed"] = {{"run", origin.resumed->run},
                       {"round", origin.resumed->round},
                       {"whole", origin.resumed->whole}};
  return json;
}

bool is_whole(const RunFolder& folder) {
  const std::string path = folder.file("run.json");
  const JsonValue json = parse_json(text_of_file(path), path);
  const JsonValue* const resumed = json.find("resumed");
  const JsonValue* const whole = resumed == nullptr ? nullptr : resumed->find("whole");
  const bool simulated = json_text(json, "kind") == "simulate";
  return simulated && (resumed == nullptr || (whole != nullptr && whole->boolean));
}

RunFolder begin_run(const Assembly& fleet, const RunOrigin& origin) {
  const FlatKeys keys = fleet_keys(origin.file, origin.sets);
  RunFolder folder = RunFolder::make(fleet.fleet.output_dir);
  std::error_code ignored;
  std::filesystem::copy_file(origin.file, folder.file("fleet.yaml"), ignored);
  folder.write("run.json", run_json(fleet, origin, keys).dump(2) + "\n");
  return folder;
}

void keep_room(const RunFolder& folder) {
  constexpr std::size_t room_bytes = std::size_t{1} << 16;
  try {
    folder.write(room_name, std::string(room_bytes, '.'));
  } catch (const std::runtime_error&) {  // disk already full: the first checkpoint reports it
  }
}

void end_unsaved(const RunFolder& folder, const std::string& summary) {
  std::error_code ignored;
  std::filesystem::remove(folder.file(room_name), ignored);
  folder.write("summary.json", summary + "\n");
  std::ofstream metrics(folder.file("metrics.jsonl"), std::ios::app);
  metrics << summary << std::endl;
  if (!metrics) throw std::runtime_error(folder.file("metrics.jsonl") + ": cannot be written");
}

void end_run(const Assembly& fleet,
             const RunFolder& folder,
             const Observer& observer,
             std::span<const float> x,
             const std::string& summary,
             const std::string& version) {
  save_model(folder.file("model.safetensors"), fleet, x,
             {.rounds = observer.best() ? observer.best()->round : observer.summary()->round,
              .version = version});
  end_unsaved(folder, summary);
}

std::optional<bool> target_reached(const Assembly& fleet, const Observer& observer) {
  if (!fleet.fleet.stop.target) return std::nullopt;
  return observer.target_reached();
}

std::string target_text(const Assembly& fleet, const Observer& observer) {
  const std::optional<bool> reached = target_reached(fleet, observer);
  if (!reached) return "";
  const TargetSpec& aim = *fleet.fleet.stop.target;
  const std::string target = fmt::format("target     {}", to_string(aim));
  if (*reached) return target + " reached" + exactness_text(fleet, aim);
  const auto& end = observer.summary();
  const auto figure = end ? figure_of(*end, aim) : std::nullopt;
  if (!figure)
    return target + " missed: this model has no accuracy, so stop.target never ends a run of it";
  return fmt::format("{} missed: {:.4g} at the end", target, aim.as_return ? -*figure : *figure);
}

int code_with_target(int code, const Assembly& fleet, const Observer& observer) {
  const bool missed = target_reached(fleet, observer) == std::optional(false);
  const bool rose = observer.summary() && loss_rose(*observer.summary());
  return code == exit_code::done && (missed || rose) ? exit_code::check_failed : code;
}

void add_target(Json& summary, const Assembly& fleet, const Observer& observer) {
  const std::optional<bool> reached = target_reached(fleet, observer);
  if (!reached) return;
  const TargetSpec& target = *fleet.fleet.stop.target;
  const bool accuracy = target.figure == TargetSpec::Figure::accuracy;
  constexpr const char* whose[] = {"mean", "local", "worst"};
  const char* const name = accuracy ? "accuracy" : target.as_return ? "return" : "loss";
  summary["target"] = {{name, target.asked()},
                       {"of", whose[static_cast<std::size_t>(target.whose)]},
                       {"for", target.in_a_row},
                       {"reached", *reached}};
}

MachineFacts machine_facts() {
  return {.processor = processor_name(),
          .cores = usable_cores().count(),
          .memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE))};
}

}  // namespace gv
