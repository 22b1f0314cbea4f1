#include "peer/launch/run/resume.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/seam/costs.h"
#include "optim/state.h"
#include "peer/fleet/json/json.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/run_folder.h"

namespace gv {
namespace {

constexpr const char* arguments_name = "run.json";

CheckpointStore store_of(const Assembly& fleet, const RunFolder& folder, Disk& disk, PeerId i) {
  return {disk, folder.peer(i) + "/checkpoints", fleet.fleet.digest, fleet.model_digest,
          i,    fleet.fleet.checkpoint.keep};
}

/// Returns whether the resumed run repeats this evaluation, or an uninterrupted run would not have
/// made it: the one at the end of an interrupted run is of no planned round.
bool is_later(const Assembly& fleet, const JsonValue& json, Round round, std::uint64_t ticks) {
  const auto of = json_integer<Round>(json, "round");
  if (json.find("tick") != nullptr) return json_integer<std::uint64_t>(json, "tick") > ticks;
  return of > round || (of == round && fleet.evaluate_every > 0 && of % fleet.evaluate_every != 0);
}

/// Fleet file keys that may change, because no peer's state depends on them.
constexpr std::array free_keys{"peers",
                               "hosts",
                               "stop",
                               "topology",
                               "links",
                               "network",
                               "name",
                               "evaluate",
                               "checkpoint",
                               "output",
                               "launch",
                               "record",
                               "security",
                               "simulate",
                               "faults",
                               "train.optimizer.lr",
                               "train.optimizer.schedule"};

bool may_differ(const std::string& key) {
  return std::ranges::any_of(free_keys, [&](const std::string& free) {
    return key == free || key.starts_with(free + ".");
  });
}

/// Returns the first key that differs between the files and must not, or "".
std::string fixed_key(const FlatKeys& before, const FlatKeys& after) {
  std::map<std::string, std::string> was(before.begin(), before.end());
  for (const auto& [key, value] : after) {
    const auto at = was.find(key);
    const bool same = at != was.end() && at->second == value;
    if (!same && !may_differ(key)) return key;
    if (at != was.end()) was.erase(at);
  }
  const auto left =
      std::ranges::find_if(was, [](const auto& key) { return !may_differ(key.first); });
  return left == was.end() ? "" : left->first;
}

/// Returns whether all peers keep their neighbours and their weights.
bool same_graph(const Assembly& was, const Assembly& is) {
  return was.fleet.size() == is.fleet.size() && was.fleet.mixing_digest == is.fleet.mixing_digest &&
         was.topology.neighbors == is.topology.neighbors;
}

std::vector<std::byte> state_of(const Objective& objective) {
  StateWriter state;
  objective.save(state);
  return state.take();
}

std::vector<std::byte> state_of(const Replica& replica) {
  StateWriter state;
  replica.save(state);
  return state.take();
}

using Bytes = std::span<const std::byte>;

/// Parts of a peer's state (HostReplica::save).
struct Parts {
  Bytes model;    ///< x and the optimizer
  Bytes batches;  ///< position in its minibatches
  Bytes memory;   ///< values kept by the method by name, its own or of neighbours
};

/// Returns the bytes of x and the optimizer by stage: one entry if peers have whole models.
std::vector<std::size_t> model_bytes(const Assembly& fleet) {
  std::vector<std::size_t> bytes;
  for (PeerId s = 0; s < fleet.chains.stages(); ++s) {
    const PeerId i = fleet.chains.stage_peers(0, s).front();
    bytes.push_back(state_of(*fleet.host_replica(i)).size() - state_of(*fleet.objective(i)).size());
  }
  return bytes;
}

Parts parts_of(const Assembly& was, const Checkpoint& past, std::size_t model_bytes) {
  const Bytes state = before_costs(past.state);
  if (state.size() < model_bytes) throw std::runtime_error("a checkpoint is too short");
  const Bytes rest = state.subspan(model_bytes);
  const std::unique_ptr<Objective> objective = was.objective(past.peer);
  StateReader reader(rest);
  objective->restore(reader);
  const std::size_t batches = state_of(*objective).size();
  return {state.first(model_bytes), rest.first(batches), rest.subspan(batches)};
}

/// Returns the peer from which each peer's model comes: itself, or for a new peer the nearest one
/// that was there before.
std::vector<PeerId> sources(const Assembly& is, PeerId old) {
  std::vector<PeerId> source(is.fleet.size());
  for (PeerId i = 0; i < is.fleet.size(); ++i) {
    std::deque<PeerId> next{i};
    std::vector<bool> seen(is.fleet.size());
    while (!next.empty() && next.front() >= old) {
      const PeerId at = next.front();
      next.pop_front();
      for (const PeerId j : links_of(is.plan(at)))
        if (!seen[j]) seen[j] = true, next.push_back(j);
    }
    source[i] = next.empty() ? 0 : next.front();
  }
  return source;
}

std::vector<std::byte> joined(Bytes model, Bytes batches, Bytes memory, const Costs& costs) {
  StateWriter state;
  std::vector<std::byte> all(model.begin(), model.end());
  all.insert(all.end(), batches.begin(), batches.end());
  all.insert(all.end(), memory.begin(), memory.end());
  save_at_end(state, costs);
  const std::vector<std::byte> end = state.take();
  all.insert(all.end(), end.begin(), end.end());
  return all;
}

[[noreturn]] void refuse_memory(const Assembly& was, const std::string& names) {
  throw std::invalid_argument(fmt::format(
      "run: {} keeps {} per peer from round to round, and a new peer or another graph has no such "
      "state\nhelp:  take a method that keeps nothing but the model, such as d-psgd; or continue "
      "with the same peers and graph for more rounds; or start a new run from what was saved: "
      "model.start",
      was.fleet.algorithm, names));
}

/// Returns the first name in the memory, as in "`tracker`".
std::string names_in(Bytes memory) {
  StateReader reader(memory);
  try {
    reader.name("named");
    if (reader.u64() > 0) return fmt::format("`{}`", reader.text());
  } catch (const std::runtime_error&) {
  }
  return "more than its model";
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
    each += fmt::format("\n  peer {}: {}", i,
                        rounds.empty() ? "none" : fmt::format("{}", fmt::join(rounds, ", ")));
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
                  folder.path(), each));
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
                            Round end,
                            const std::vector<Costs>& costs) {
  // If evaluations follow time, the peer that has trained least decides which one comes next.
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
      if (event == "evaluate" &&
          (is_later(fleet, json, round, ticks) || json_integer<Round>(json, "round") >= end))
        break;
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

std::string growth_objection(const Assembly& was,
                             const FlatKeys& before,
                             const Assembly& is,
                             const FlatKeys& after) {
  const PeerId old = was.fleet.size(), now = is.fleet.size();
  if (const std::string key = fixed_key(before, after); !key.empty())
    return fmt::format(
        "`{}` is part of what the peers have learnt until now and stays\nhelp:  a run "
        "continues with other `peers`, `hosts`, `stop`, `topology`, `links`, "
        "`evaluate` or `checkpoint`; begin another one from its model: model.start",
        key);
  if (now < old)
    return fmt::format(
        "a fleet of {} peers resumes as {}: a model would be lost\nhelp:  a fleet may only grow; "
        "give at least as many peers as before",
        old, now);
  if (same_graph(was, is)) return "";
  if (was.fleet.trainers() != old || is.fleet.trainers() != now)
    return "a fleet with servers does not grow: each server holds a part of the model, by its "
           "number"
           "\nhelp:  begin another run from its model: model.start";
  if (was.fleet.parallel)
    return "a fleet of chains does not grow: a new one would have no gradient until all of its "
           "stages have taken their parts of a model\nhelp:  begin another run from its model: "
           "model.start";
  if (was.fleet.attackers.count > 0)
    return "the last peers are attackers, and in a larger fleet other peers would be the "
           "last\nhelp:  begin another run";
  if (is.fleet.evaluate_period > Time{0})
    return "evaluations by time count the training time of each peer, and a new peer has "
           "none\nhelp:  "
           "write `evaluate: { every: N rounds }`";
  return "";
}

std::vector<Checkpoint> grown_checkpoints(const Assembly& was,
                                          const Assembly& is,
                                          const std::vector<Checkpoint>& past) {
  const bool same = same_graph(was, is);
  const auto old = static_cast<PeerId>(past.size());
  const std::vector<std::size_t> bytes = model_bytes(was);
  std::vector<Parts> parts;
  for (const Checkpoint& each : past) {
    parts.push_back(parts_of(was, each, bytes[was.chains.stage(each.peer)]));
    if (!same && !parts.back().memory.empty()) refuse_memory(was, names_in(parts.back().memory));
  }
  const std::vector<PeerId> source = sources(is, old);
  std::vector<Checkpoint> all;
  for (PeerId i = 0; i < is.fleet.size(); ++i) {
    const bool keeps = i < old && was.partition == is.partition;
    const std::vector<std::byte> fresh =
        keeps ? std::vector<std::byte>{} : state_of(*is.objective(i));
    const Parts& from = parts[source[i]];
    const Costs costs = i < old ? costs_at_end(past[i].state) : Costs{};
    all.push_back(
        {.fleet = is.fleet.digest,
         .model = is.model_digest,
         .peer = i,
         .round = past[0].round,
         .state = joined(from.model, keeps ? from.batches : Bytes(fresh), from.memory, costs)});
  }
  return all;
}

}  // namespace gv
