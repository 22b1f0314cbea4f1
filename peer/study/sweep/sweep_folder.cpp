#include "peer/study/sweep/sweep_folder.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/json/fields.h"

namespace gv {

/// The ends of a knob's range.
void fields(auto& v, std::pair<double, double>& ends) {
  v("low", ends.first), v("high", ends.second);
}

void fields(auto& v, TrialEnd& end) {
  v("sets", end.sets), v("bits", end.identity.bits), v("clock", end.identity.clock);
  v("fraction", end.fraction), v("diverged", end.diverged);
  v("deadline_passed", end.deadline_passed), v("replayed", end.replayed);
  const bool told = v.has("ended");
  if (told) v("from_round", end.from_round);
  v("wall_seconds", end.wall_seconds);
  if (told) v("ended", end.ended), v("build", end.build);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_json = 64U << 20;
constexpr std::size_t longest_text = 200;

void make(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw std::runtime_error(
        fmt::format("cannot make the sweep's folder {}: {} (set output.dir in the sweep file)",
                    path, error.message()));
}

/// Reads the trial numbers of plan.json by key.
std::map<std::string, std::size_t> numbers_in(const std::string& path) {
  std::map<std::string, std::size_t> numbers;
  const auto text = read_whole(path, largest_json);
  if (!text) return numbers;
  try {
    const JsonValue json = parse_json(*text, path);
    for (const JsonValue& trial : json_member(json, "trials").items)
      numbers[json_text(trial, "key")] = json_integer<std::size_t>(trial, "number");
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format(
        "{}: {} (the sweep wrote it; move its folder away to start again)", path, error.what()));
  }
  return numbers;
}

Json plan_json(const SweepPlan& plan, const std::map<std::string, std::size_t>& numbers) {
  Json json{{"schema", "grapevine.plan/1"}, {"name", plan.file.name}, {"base", plan.file.base}};
  if (plan.file.target) json.add("target", target_argument(*plan.file.target));
  Json& cells = json["cells"] = Json::array();
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    std::vector<std::string> sets;
    for (const SweepSet& set : plan.cells[c].sets) sets.push_back(set.argument);
    cells.push_back(Json{
        {"values", to_json(plan.cells[c].labels)}, {"sets", sets}, {"family", plan.family_of[c]}});
  }
  Json& trials = json["trials"] = Json::array();
  std::map<std::string, std::string> folders;
  for (const TrialSlot& slot : plan.slots) folders[slot.key] = slot.folder;
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [key, number] : numbers) sorted.emplace_back(number, key);
  std::ranges::sort(sorted);
  for (const auto& [number, key] : sorted)
    trials.push_back(Json{{"number", number}, {"key", key}, {"folder", Json(folders[key])}});
  return json;
}

constexpr std::string_view prefix = "version-";
constexpr std::size_t most_bytes = 64U << 20;

}  // namespace

std::optional<std::string> read_whole(const std::string& path, std::size_t most) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > most) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? std::optional(text.str()) : std::nullopt;
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, path, error);
  if (!out || error) {
    fs::remove(temporary, error);
    throw std::runtime_error(path + ": cannot be written (is the disk full?)");
  }
}

SweepFolder::SweepFolder(std::string path) : path_(std::move(path)) {
  for (const char* part : {"", "/trials", "/working", "/failed", "/claims"}) make(path_ + part);
}

std::string SweepFolder::working(const TrialSlot& slot, const std::string& token) const {
  return fmt::format("{}/working/{:04}-{}", path_, slot.number, token);
}

std::string SweepFolder::failed(const TrialSlot& slot) const {
  return fmt::format("{}/failed/{}", path_, slot.folder);
}

std::set<std::string> SweepFolder::trials() const {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_ + "/trials", error))
    names.insert(entry.path().filename().string());
  return names;
}

std::set<std::size_t> SweepFolder::claimed() const {
  std::set<std::size_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(claims(), error)) {
    const auto number = as_number<std::size_t>(entry.path().filename().string());
    if (number) numbers.insert(*number);
  }
  return numbers;
}

std::optional<TrialEnd> SweepFolder::end_of(const TrialSlot& slot) const {
  const std::string folder = trial(slot);
  std::error_code error;
  if (!fs::exists(folder + "/summary.json", error)) return std::nullopt;
  const std::string path = folder + "/trial.json";
  const auto text = read_whole(path, largest_json);
  if (!text) return std::nullopt;
  try {
    TrialEnd end;
    read_json(parse_json(*text, path), "", end);
    end.ended = printable(end.ended, longest_text);
    end.build = printable(end.build, longest_text);
    return end;
  } catch (const std::exception&) {
    return std::nullopt;  // not ours: it is set aside and the trial runs
  }
}

void SweepFolder::drop_checkpoints(const TrialSlot& slot) const {
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& peer : fs::directory_iterator(trial(slot) + "/peers", error))
    old.push_back(peer.path() / "checkpoints");
  for (const fs::path& path : old) fs::remove_all(path, error);
}

void SweepFolder::clear_working(const TrialSlot& slot) const {
  const std::string prefix = fmt::format("{:04}-", slot.number);
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(path_ + "/working", error))
    if (entry.path().filename().string().starts_with(prefix)) old.push_back(entry.path());
  for (const fs::path& path : old) fs::remove_all(path, error);
}

void SweepFolder::set_aside(const TrialSlot& slot) const {
  std::error_code error;
  if (!fs::exists(trial(slot), error)) return;
  make(path_ + "/superseded");
  for (int k = 1; k < 10'000; ++k) {
    const std::string to = fmt::format("{}/superseded/{}.{}", path_, slot.folder, k);
    if (fs::exists(to, error)) continue;
    fs::rename(trial(slot), to, error);
    return;
  }
}

std::vector<KnobRanges> SweepFolder::extensions() const {
  const std::string path = path_ + "/extended.json";
  const auto text = read_whole(path, largest_json);
  if (!text) return {};
  std::vector<KnobRanges> all;
  try {
    read_json(parse_json(*text, path), "", all);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", path, error.what()));
  }
  return all;
}

void SweepFolder::add_extension(const KnobRanges& ranges) const {
  std::vector<KnobRanges> all = extensions();
  all.push_back(ranges);
  write_whole(path_ + "/extended.json", to_json(all).dump(2) + "\n");
}

void SweepFolder::remember(SweepPlan& plan) const {
  const std::string path = path_ + "/plan.json";
  std::map<std::string, std::size_t> numbers = numbers_in(path);
  std::size_t last = 0;
  for (const auto& [key, number] : numbers) last = std::max(last, number);
  for (TrialSlot& slot : plan.slots) {
    const auto [at, is_new] = numbers.try_emplace(slot.key, last + 1);
    if (is_new) ++last;
    const std::string name = slot.folder.substr(slot.folder.find('-'));
    slot.number = at->second;
    slot.folder = fmt::format("{:04}{}", slot.number, name);
  }
  std::ranges::stable_sort(plan.slots, {}, &TrialSlot::number);
  const std::string text = plan_json(plan, numbers).dump(2) + "\n";
  if (read_whole(path, largest_json) != text) write_whole(path, text);
  for (const auto& [from, name] :
       {std::pair{plan.file.path, "/sweep.yaml"}, std::pair{plan.file.base, "/base.yaml"}})
    if (const auto file = read_whole(from, largest_json)) write_whole(path_ + name, *file);
}

Json trial_json(const TrialSlot& slot, const TrialEnd& end) {
  Json json{{"schema", "grapevine.trial/1"},
            {"number", slot.number},
            {"key", slot.key},
            {"stage", slot.stage == TrialSlot::Stage::tune ? "tune" : "measure"},
            {"rung", slot.rung},
            {"seed", slot.seed},
            {"values", to_json(slot.values)}};
  json.update(to_json(end));
  return json;
}

std::string version_of(const SweepPlan& plan, const std::string& build) {
  std::string words = build + ";";
  for (const std::string& path : {plan.file.path, plan.file.base}) {
    const auto text = read_whole(path, most_bytes);
    if (!text) throw std::runtime_error(path + ": cannot be read");
    words += fmt::format("{}:{};", text->size(), *text);
  }
  return digest_of_text(words);
}

void refuse_other_versions(const SweepPlan& plan, const std::string& build, Claims& claims) {
  const std::string own = fmt::format("{}{}-", prefix, version_of(plan, build));
  for (const std::string& name : claims.names()) {
    if (!name.starts_with(prefix) || name.starts_with(own)) continue;
    const auto holder = claims.holder(name);
    if (!holder && claims.take(name)) claims.release(name);
    if (!holder) continue;
    throw std::runtime_error(
        fmt::format("{}: {} works on another version of it, or with another build, in {}\n"
                    "help:  wait until that has ended, end it, or set another output.dir",
                    plan.file.path, *holder, plan.file.output_dir));
  }
}

void claim_version(const SweepPlan& plan, const std::string& build, Claims& claims) {
  claims.take(fmt::format("{}{}-{}", prefix, version_of(plan, build), claims.token()));
}

}  // namespace gv
