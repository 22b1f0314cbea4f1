#include "peer/launch/resume.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/json/json.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/run_folder.h"

namespace gv {
namespace {

constexpr const char* arguments_name = "run.json";

CheckpointStore store_of(const Assembly& fleet, const RunFolder& folder, Disk& disk, PeerId i) {
  return {disk,
          folder.peer(i) + "/checkpoints",
          fleet.fleet.digest,
          fleet.model_digest,
          i,
          fleet.fleet.checkpoint.keep};
}

/// Returns whether the resumed run will make this evaluation again, or a run without an interrupt
/// would not have made it: the one at the end of what was interrupted is of no planned round.
bool is_later(const Assembly& fleet, const JsonValue& json, Round round, std::uint64_t ticks) {
  const auto of = json_integer<Round>(json, "round");
  if (of >= fleet.rounds) return true;
  if (json.find("tick") != nullptr) return json_integer<std::uint64_t>(json, "tick") > ticks;
  return of > round || (of == round && fleet.evaluate_every > 0 && of % fleet.evaluate_every != 0);
}

}  // namespace

RunArguments read_arguments(const std::string& run_folder) {
  const std::string path = run_folder + "/" + arguments_name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": not there; is this the folder of a run?");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const JsonValue json = parse_json(text, path);
  try {
    // Earlier programs wrote grapevine.run/1, with the digest under another name.
    const bool first = json_text(json, "schema") == "grapevine.run/1";
    RunArguments arguments{
        json_text(json, "file"), {}, json_text(json, first ? "fleet" : "digest")};
    for (const JsonValue& set : json_member(json, "sets").items) arguments.sets.push_back(set.text);
    return arguments;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: cannot be read: {}", path, e.what()));
  }
}

Round newest_common_round(const Assembly& fleet, const RunFolder& folder) {
  PosixDisk disk;
  std::vector<Round> common;
  std::string each;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    if (const Verdict wrong = folder_objection(folder.peer(i)); !wrong.empty())
      throw std::runtime_error(wrong);
    const std::vector<Round> rounds = store_of(fleet, folder, disk, i).rounds();
    each += fmt::format(
        "\n  peer {}: {}", i, rounds.empty() ? "none" : fmt::format("{}", fmt::join(rounds, ", ")));
    std::vector<Round> both;
    std::ranges::set_intersection(common, rounds, std::back_inserter(both));
    common = i == 0 ? rounds : both;
  }
  const std::optional<Round> held = round_before_loss(folder.path());
  if (held && std::ranges::binary_search(common, *held)) return *held;
  if (!common.empty()) return common.back();
  throw std::runtime_error(
      fmt::format("{}: there is no round of which every peer has a valid checkpoint; set "
                  "checkpoint.every in the fleet file before a run. There are:{}",
                  folder.path(),
                  each));
}

std::vector<Checkpoint> checkpoints_of(const Assembly& fleet,
                                       const RunFolder& folder,
                                       Round round) {
  PosixDisk disk;
  std::vector<Checkpoint> all(fleet.fleet.size());
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    const Verdict wrong = store_of(fleet, folder, disk, i).at(round, all[i]);
    if (!wrong.empty()) throw std::runtime_error(wrong);
  }
  return all;
}

std::vector<Costs> costs_of(const Assembly& fleet, const RunFolder& folder, Round round) {
  PosixDisk disk;
  std::vector<Costs> all;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    Checkpoint past;
    const Verdict wrong = store_of(fleet, folder, disk, i).at(round, past);
    if (!wrong.empty()) throw std::runtime_error(wrong);
    all.push_back(costs_at_end(past.state));
  }
  return all;
}

std::string earlier_metrics(const Assembly& fleet,
                            const RunFolder& folder,
                            Round round,
                            const std::vector<Costs>& costs) {
  // By time, the peer that is furthest behind says which evaluation comes next.
  std::uint64_t ticks = 0;
  const Time period = fleet.fleet.evaluate_period;
  if (period > Time{0} && !costs.empty())
    ticks = static_cast<std::uint64_t>(
        std::ranges::min(costs, {}, &Costs::training_time).training_time() / period);
  std::ifstream in(folder.file("metrics.jsonl"));
  std::string kept;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    try {
      const JsonValue json = parse_json(line, "metrics.jsonl");
      const std::string event = json_text(json, "event");
      if (event == "summary") continue;
      if (event == "evaluate" && is_later(fleet, json, round, ticks)) break;
      kept += line + "\n";
    } catch (const std::runtime_error&) {  // half written when the run was killed
      break;
    }
  }
  return kept;
}

void keep_checkpoints(const Assembly& fleet,
                      const RunFolder& folder,
                      Disk& disk,
                      std::vector<Checkpoint> all) {
  for (Checkpoint& each : all) {
    CheckpointStore store = store_of(fleet, folder, disk, each.peer);
    const Verdict wrong = store.save(each.round, std::move(each.state));
    if (!wrong.empty()) throw std::runtime_error(wrong);
  }
}

}  // namespace gv
