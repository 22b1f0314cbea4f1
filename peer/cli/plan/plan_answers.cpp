#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/graph_file.h"
#include "peer/cli/plan/plan_text.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/model_profile.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/views.h"
#include "peer/study/predict/forecast/proposal.h"
#include "peer/study/predict/parallel/proposals.h"
#include "peer/study/sweep/trial_job.h"

namespace gv::cli {
namespace {

std::shared_ptr<const ModelProfile> profile_for(const Assembly& fleet, const std::string& path) {
  if (path.empty() && fleet.fleet.profile) return fleet.fleet.profile;
  if (path.empty()) return std::make_shared<const ModelProfile>(counted_profile(fleet));
  auto profile = std::make_shared<const ModelProfile>(read_profile(path));
  const NeuralNetwork network = make_network(fleet.fleet.model, *fleet.data.train);
  if (const std::string why = objection_to(*profile, network); !why.empty())
    throw std::runtime_error(fmt::format("{}: {}", path, why));
  return profile;
}

/// Returns the number of each peer in the file's `peers`.
std::vector<PeerId> in_file(const Assembly& fleet, std::vector<PeerId> place) {
  const std::vector<PeerId> own =
      fleet.fleet.parallel ? fleet.fleet.parallel->place : std::vector<PeerId>{};
  if (!own.empty())
    for (PeerId& i : place) i = own[i];
  return place;
}

bool as_they_stand(const std::vector<PeerId>& place) {
  for (PeerId i = 0; i < place.size(); ++i)
    if (place[i] != i) return false;
  return true;
}

/// Returns a function that reads the file's network for an order of the peers, once per order.
NetworkInPlace network_in_place(const Assembly& fleet, const std::vector<std::string>& sets) {
  const NetworkSpec& network = fleet.fleet.network;
  if (network.links.empty() && network.cards.empty()) return nullptr;
  auto known = std::make_shared<std::map<std::vector<PeerId>, NetworkSpec>>();
  return [&fleet, sets, known](const std::vector<PeerId>& place) {
    const auto [at, is_new] = known->try_emplace(place);
    if (is_new) {
      std::vector<std::string> all = sets;
      all.push_back(fmt::format("parallel={{ stages: 1, place: [{}] }}",
                                fmt::join(in_file(fleet, place), ", ")));
      at->second = read_fleet(fleet.fleet.path, all, nullptr).network;
    }
    return at->second;
  };
}

/// Searches, and adds the best found proposals to the known ones.
std::optional<StrategySearch> search(const StrategyCosts& costs,
                                     const ParallelQuestion& question,
                                     ParallelAdvice& advice) {
  if (question.search <= 0) return std::nullopt;
  ProgressLine progress;
  StrategySearch found = search_strategies(
      costs, advice, {.seconds = question.search}, Rng(question.seed).derive("strategies"),
      [&](std::uint64_t moves, double rate) {
        progress.update(fmt::format("searching: {} moves, {:.4g} samples a second", moves, rate));
      });
  progress.clear();
  if (found.best.samples_per_second > 0) add_found(advice, found.best);
  return found;
}

Json json_of(const std::optional<StrategySearch>& found) {
  if (!found) return nullptr;
  return {{"moves", found->moves},
          {"accepted", found->accepted},
          {"seconds", found->seconds},
          {"samples_per_second", found->best.samples_per_second},
          {"best_of_partitioner", found->best_of_partitioner}};
}

/// Writes a proposal; `copies` and `tensor` only if they are not one.
Json json_of(const Assembly& fleet, const ParallelProposal& p) {
  Json json{{"stages", p.stages},
            {"place", in_file(fleet, p.place)},
            {"chains", p.chains},
            {"batch", p.batch},
            {"microbatches", p.microbatches},
            {"ahead", p.ahead == ParallelSpec::all ? Json("all") : Json(p.ahead)},
            {"recompute", p.recompute},
            {"schedule", name_of(p.schedule)},
            {"vertical_sync", p.vertical_sync},
            {"seconds_per_round", p.seconds_per_round},
            {"samples_per_second", p.samples_per_second},
            {"idle", p.idle},
            {"bytes_per_round", p.bytes_per_round},
            {"memory_bytes", p.memory_bytes},
            {"bottleneck", p.bottleneck}};
  if (!p.copies.empty()) json["copies"] = p.copies;
  if (p.tensor > 1) json["tensor"] = p.tensor;
  return json;
}

void print_json(const Assembly& fleet,
                const ParallelAdvice& advice,
                const std::optional<StrategySearch>& found) {
  const auto proposal = [&](const ParallelProposal& p) { return json_of(fleet, p); };
  console::print({{"schema", "grapevine.plan-parallel/1"},
                  {"name", fleet.fleet.name},
                  {"proposals", mapped(advice.proposals, proposal)},
                  {"data_parallel", mapped(advice.data_parallel, proposal)},
                  {"alone", json_of(fleet, advice.alone)},
                  {"batch_to_hide", advice.batch_to_hide},
                  {"search", json_of(found)},
                  {"advice", name_of(advice.way)},
                  {"why", advice.why}});
}

void print_row(const std::string& way, const ParallelProposal& p, bool pipeline) {
  const std::string batch =
      p.chains == 1 ? fmt::format("{}", p.batch) : fmt::format("{} x {}", p.chains, p.batch);
  fmt::print("{:<13} {:>9} {:>3} {:>5} {:>10} {:>3.0f} % {:>9} {:>9} {:>9.4g}\n", way, batch,
             pipeline ? fmt::format("{}", p.microbatches) : "-",
             pipeline ? ahead_text(p.ahead) : "-", seconds_text(p.seconds_per_round), 100 * p.idle,
             bytes_text(p.bytes_per_round), bytes_text(p.memory_bytes), p.samples_per_second);
}

std::string parallel_text(const Assembly& fleet, const ParallelProposal& p) {
  const std::vector<PeerId> place = in_file(fleet, p.place);
  const std::string order =
      as_they_stand(place) ? "" : fmt::format(", place: [{}]", fmt::join(place, ", "));
  const std::string schedule =
      p.schedule == ParallelSpec::Schedule::flush
          ? fmt::format("microbatches: {}, ahead: {}", p.microbatches, ahead_text(p.ahead))
          : fmt::format("schedule: {}{}", name_of(p.schedule),
                        p.vertical_sync ? ", vertical_sync: true" : "");
  const std::string copies =
      p.copies.empty() ? "" : fmt::format(", copies: [{}]", fmt::join(p.copies, ", "));
  return fmt::format("parallel: {{ stages: [{}], {}{}{}{}{} }}", fmt::join(p.stages, ", "),
                     schedule, copies, p.tensor == 1 ? "" : fmt::format(", tensor: {}", p.tensor),
                     p.recompute ? ", recompute: true" : "", order);
}

/// Returns the number of peers of each stage.
std::vector<PeerId> peers_of_stages(const ParallelProposal& p) {
  return p.copies.empty() ? std::vector<PeerId>(p.stages.size(), p.tensor) : p.copies;
}

/// Returns "2 stages", or "2 stages of 4" if a chain has more peers than stages.
std::string way_text(const ParallelProposal& p) {
  const std::size_t peers = p.place.size() / p.chains;
  return counted(p.stages.size(), "stage") +
         (peers == p.stages.size() ? "" : fmt::format(" of {}", peers));
}

/// Returns the modules at which the stages begin, and their numbers of copies or members.
std::string stages_text(const ParallelProposal& p) {
  const std::vector<PeerId> peers = peers_of_stages(p);
  std::vector<std::string> stages = p.stages;
  for (std::size_t k = 0; k < stages.size(); ++k)
    if (peers[k] > 1) stages[k] += fmt::format(" {} {}", p.tensor > 1 ? "/" : "x", peers[k]);
  return fmt::format("{}", fmt::join(stages, " | "));
}

/// Returns the places of the file's peers, if they differ from its order.
std::string place_text(const Assembly& fleet, const ParallelProposal& p) {
  const std::vector<PeerId> place = in_file(fleet, p.place);
  if (as_they_stand(place)) return "";
  std::vector<std::string> chains;
  for (auto next = place.begin(); next != place.end();) {
    std::vector<std::string> stages;
    for (const PeerId peers : peers_of_stages(p)) {
      stages.push_back(fmt::format("{}", fmt::join(next, next + peers, ", ")));
      next += peers;
    }
    chains.push_back(fmt::format("{}", fmt::join(stages, " | ")));
  }
  return fmt::format(", of peers {}", fmt::join(chains, " and "));
}

void print_search(const StrategySearch& found) {
  const std::string beside =
      found.best_of_partitioner > 0
          ? fmt::format("; the best pipeline without it has {:.4g}", found.best_of_partitioner)
          : "";
  console::print_wrapped(
      fmt::format("search {} moves in {}, {} accepted: {:.4g} samples a second{}", found.moves,
                  seconds_text(found.seconds), found.accepted, found.best.samples_per_second,
                  beside),
      7);
}

/// Returns the keys to write if the advice is more than one model per peer in the file's order.
std::string keys_of(const Assembly& fleet, const ParallelAdvice& advice) {
  using Way = ParallelAdvice::Way;
  if (advice.way == Way::pipeline) return parallel_text(fleet, advice.proposals.front());
  if (advice.way == Way::alone || as_they_stand(advice.data_parallel.front().place)) return "";
  return parallel_text(fleet, advice.data_parallel.front());
}

void print_text(const Assembly& fleet,
                const ParallelAdvice& advice,
                const std::optional<StrategySearch>& found,
                bool measured) {
  fmt::print("{:<13} {:>9} {:>3} {:>5} {:>10} {:>5} {:>9} {:>9} {:>9}\n", "way", "batch", "m",
             "ahead", "round", "idle", "sent/peer", "memory", "samples/s");
  for (const ParallelProposal& p : advice.proposals) print_row(way_text(p), p, true);
  for (const ParallelProposal& p : advice.data_parallel) print_row("a model each", p, false);
  print_row(fmt::format("peer {} alone", in_file(fleet, advice.alone.place).front()), advice.alone,
            false);
  for (const ParallelProposal& p : advice.proposals)
    fmt::print("{}", wrapped(fmt::format("{}: {}{}; held up by {}", way_text(p), stages_text(p),
                                         place_text(fleet, p), p.bottleneck),
                             7) +
                         "\n");
  if (advice.batch_to_hide > 0)
    fmt::print("note   a gradient of {:.4g} samples per peer and round would hide the averaging\n",
               advice.batch_to_hide);
  if (!measured)
    console::print_wrapped(
        "note   seconds are by floating-point operations: `grapevine profile FILE "
        "-o PROFILE` measures them, and --profile PROFILE takes them",
        7);
  if (found) print_search(*found);
  console::print_wrapped(fmt::format("advice {}: {}", name_of(advice.way), advice.why), 7);
  if (const std::string keys = keys_of(fleet, advice); !keys.empty())
    fmt::print("for the fleet file:\n  {}\n", keys);
}

namespace fs = std::filesystem;

/// Returns "lan.leaf.graph" for "lan.graph".
std::string leaf_file(const std::string& file) {
  const fs::path path(file);
  return path.parent_path() / (path.stem().string() + ".leaf" + path.extension().string());
}

/// Returns the path relative to the fleet file, whose folder may differ from ours.
std::string for_fleet(const Assembly& fleet, const std::string& file) {
  const fs::path folder = fs::absolute(fleet.fleet.path).lexically_normal().parent_path();
  return fs::absolute(file).lexically_normal().lexically_proximate(folder).string();
}

std::vector<Proposal> propose(const Assembly& fleet,
                              const std::vector<std::string>& sets,
                              const std::string& file) {
  return proposals(fleet, {.sets = sets,
                           .placed = for_fleet(fleet, file),
                           .leaf = for_fleet(fleet, leaf_file(file)),
                           .write = [&](const Topology& graph) {
                             const std::string leaf = leaf_file(file);
                             write_file(leaf, write_graph(graph, format_of_path(leaf)));
                           }});
}

/// Removes the graph with leaves if no proposal names it.
void remove_unused(const Assembly& fleet,
                   const std::vector<Proposal>& all,
                   const std::string& file) {
  const auto named = [&](const Proposal& p) {
    return std::ranges::count(p.sets, "topology=file:" + for_fleet(fleet, leaf_file(file))) > 0;
  };
  std::error_code none;
  if (std::ranges::none_of(all, named)) fs::remove(leaf_file(file), none);
}

std::string words_of(const Proposal& p) {
  return p.sets.empty() ? "as in the file" : fmt::format("{}", fmt::join(p.sets, ", "));
}

void print_proposals(const std::vector<Proposal>& all) {
  const auto as_is = std::ranges::find_if(all, [](const Proposal& p) { return p.sets.empty(); });
  fmt::print("\nOther ways, by the seconds of a gradient step of all peers:\n");
  for (const Proposal& p : all)
    fmt::print("{:>12} {:>6}  {}\n", seconds_text(p.seconds_per_step()),
               as_is == all.end()
                   ? ""
                   : fmt::format("{:.1f}x", as_is->seconds_per_step() / p.seconds_per_step()),
               words_of(p));
  if (all.empty() || all.front().sets.empty()) return;
  fmt::print("set   ");
  for (const std::string& set : all.front().sets) fmt::print(" --set \"{}\"", set);
  fmt::print(
      "\n       fewer exchanges and codecs need more steps where the peers' data are unlike: "
      "`simulate` tells\n");
}

Json json_of(const std::vector<Proposal>& all) {
  return mapped(all, [](const Proposal& p) {
    return Json{{"sets", Json(p.sets)},
                {"seconds_per_round", p.seconds_per_round},
                {"steps_per_round", p.steps},
                {"seconds_per_step", p.seconds_per_step()}};
  });
}

}  // namespace

int divide_model(const Assembly& fleet, const ParallelQuestion& question) {
  if (!fleet.data.train || find_model(fleet.fleet.model.kind).network == nullptr)
    throw std::invalid_argument(
        fmt::format("--parallel: model `{}` has no layers between which it could be divided",
                    fleet.fleet.model.kind));
  if (const std::string why = objection_to_chains(*fleet.algorithm, *fleet.setup); !why.empty())
    throw std::invalid_argument(fmt::format("--parallel: {}", why));
  const StrategyCosts costs(fleet, profile_for(fleet, question.profile),
                            static_cast<double>(free_memory().value_or(0)),
                            network_in_place(fleet, question.sets));
  ParallelAdvice advice = advise_parallel(costs);
  const std::optional<StrategySearch> found = search(costs, question, advice);
  const bool measured = !question.profile.empty() || fleet.fleet.profile != nullptr;
  question.json ? print_json(fleet, advice, found) : print_text(fleet, advice, found, measured);
  return exit_code::done;
}

int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json) {
  const Placement found = best_placement(fleet);
  write_file(file, write_graph(found.graph, format_of_path(file)));
  const std::vector<Proposal> others = propose(fleet, sets, file);
  remove_unused(fleet, others, file);
  if (json) {
    console::print({{"schema", "grapevine.placement/1"},
                    {"seconds_as_numbered", found.seconds_as_numbered},
                    {"seconds_per_round", found.seconds},
                    {"places", Json(found.peers)},
                    {"tried", found.tried},
                    {"file", file},
                    {"proposals", json_of(others)}});
    return exit_code::done;
  }
  fmt::print("round  {} as numbered\nplace  {} with the best of {} swaps\n",
             seconds_text(found.seconds_as_numbered), seconds_text(found.seconds), found.tried);
  if (found.seconds < found.seconds_as_numbered)
    for (PeerId k = 0; k < found.peers.size(); ++k)
      if (found.peers[k] != k)
        fmt::print("       peer {} ({}) stands where {} would\n", found.peers[k],
                   fleet.fleet.peers[found.peers[k]].host, k);
  fmt::print("wrote  {}; the fleet takes it with `topology: \"file:{}\"`\n", file, file);
  print_proposals(others);
  return exit_code::done;
}

}  // namespace gv::cli
