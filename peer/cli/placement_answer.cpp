#include "peer/cli/placement_answer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/graph_file.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/exit_code.h"
#include "peer/study/predict/forecast/placement.h"
#include "peer/study/predict/forecast/proposal.h"

namespace gv::cli {
namespace {

namespace fs = std::filesystem;

/// "lan.leaf.graph" beside "lan.graph".
std::string leaf_file(const std::string& file) {
  const fs::path path(file);
  return path.parent_path() / (path.stem().string() + ".leaf" + path.extension().string());
}

/// Names it as the fleet file takes it, whose folder may be another one than ours.
std::string for_fleet(const Assembly& fleet, const std::string& file) {
  const fs::path folder = fs::absolute(fleet.fleet.path).lexically_normal().parent_path();
  return fs::absolute(file).lexically_normal().lexically_proximate(folder).string();
}

std::vector<Proposal> propose(const Assembly& fleet,
                              const std::vector<std::string>& sets,
                              const std::string& file) {
  return proposals(fleet,
                   {.sets = sets,
                    .placed = for_fleet(fleet, file),
                    .leaf = for_fleet(fleet, leaf_file(file)),
                    .write = [&](const Topology& graph) {
                      const std::string leaf = leaf_file(file);
                      write_file(leaf, write_graph(graph, format_of_path(leaf)));
                    }});
}

/// A graph with leaves that nothing names is nobody's.
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
  return p.sets.empty() ? "as the file says" : fmt::format("{}", fmt::join(p.sets, ", "));
}

void print_proposals(const std::vector<Proposal>& all) {
  const auto as_is = std::ranges::find_if(all, [](const Proposal& p) { return p.sets.empty(); });
  fmt::print("\nOther ways, by the seconds of a gradient step of all peers:\n");
  for (const Proposal& p : all)
    fmt::print("{:>12} {:>6}  {}\n",
               seconds_text(p.seconds_per_step()),
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
  Json rows = Json::array();
  for (const Proposal& p : all)
    rows.push_back(Json{{"sets", Json(p.sets)},
                        {"seconds_per_round", p.seconds_per_round},
                        {"steps_per_round", p.steps},
                        {"seconds_per_step", p.seconds_per_step()}});
  return rows;
}

}  // namespace

int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json) {
  const Placement found = best_placement(fleet);
  write_file(file, write_graph(found.graph, format_of_path(file)));
  const std::vector<Proposal> others = propose(fleet, sets, file);
  remove_unused(fleet, others, file);
  if (json) {
    fmt::print("{}\n",
               Json{{"schema", "grapevine.placement/1"},
                    {"seconds_as_numbered", found.seconds_as_numbered},
                    {"seconds_per_round", found.seconds},
                    {"places", Json(found.peers)},
                    {"tried", found.tried},
                    {"file", file},
                    {"proposals", json_of(others)}}
                   .dump());
    return exit_code::done;
  }
  fmt::print("round  {} as numbered\nplace  {} with the best of {} swaps\n",
             seconds_text(found.seconds_as_numbered),
             seconds_text(found.seconds),
             found.tried);
  if (found.seconds < found.seconds_as_numbered)
    for (PeerId k = 0; k < found.peers.size(); ++k)
      if (found.peers[k] != k)
        fmt::print("       peer {} ({}) stands where {} would\n",
                   found.peers[k],
                   fleet.fleet.peers[found.peers[k]].host,
                   k);
  fmt::print("wrote  {}; the fleet takes it with `topology: \"file:{}\"`\n", file, file);
  print_proposals(others);
  return exit_code::done;
}

}  // namespace gv::cli
