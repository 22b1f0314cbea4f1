#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/topologies.h"
#include "peer/cli/command.h"
#include "peer/fleet/json/json.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct CutsArguments {
  std::string topology;
  PeerId peers = 0;
  bool json = false;
};

/// Returns whether the other peers fall apart without `gone`, which becomes a part of its own.
bool splits(Topology t, PeerId gone) {
  t.neighbors[gone].clear();
  for (auto& neighbors : t.neighbors) std::erase(neighbors, gone);
  return components(t).size() > 2;
}

int find_cuts(const CutsArguments& arguments) {
  const Topology t = build(parse_topology(arguments.topology), arguments.peers);
  require_connected(t);
  std::vector<PeerId> cuts;
  for (PeerId i = 0; i < t.size(); ++i)
    if (splits(t, i)) cuts.push_back(i);
  if (arguments.json) {
    fmt::print("{}\n", Json{{"topology", t.name}, {"peers", t.size()}, {"cuts", cuts}}.dump());
  } else if (cuts.empty()) {
    fmt::print("{}: whichever peer dies, the others stay connected\n", t.name);
  } else {
    fmt::print("{}: split by the death of peer {}\n", t.name, fmt::join(cuts, ", "));
  }
  return exit_code::done;
}

void cuts_options(Options& options, CutsArguments& arguments) {
  options.value("--topology", arguments.topology, "NAME[:params], such as torus:4x4").required();
  options.value("--peers", arguments.peers, "Number of peers").required().range(1, 10'000);
  options.json(arguments.json);
}

}  // namespace

Command graph_cuts_command() {
  return command("cuts", "The peers whose death would split a graph",
                 "  grapevine graph cuts --topology star --peers 8", cuts_options, find_cuts);
}

}  // namespace gv::cli
