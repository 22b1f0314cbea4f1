#include "peer/cli/placement_answer.h"

#include <fmt/format.h>

#include "graph/formats/format.h"
#include "peer/cli/written_file.h"
#include "peer/json/json.h"
#include "peer/predict/forecast/placement.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {

int place_peers(const Assembly& fleet, const std::string& file, bool json) {
  const Placement found = best_placement(fleet);
  write_file(file, write_graph(found.graph, format_of_path(file)));
  if (json) {
    fmt::print("{}\n",
               Json{{"schema", "grapevine.placement/1"},
                    {"seconds_as_numbered", found.seconds_as_numbered},
                    {"seconds_per_round", found.seconds},
                    {"places", Json(found.peers)},
                    {"tried", found.tried},
                    {"file", file}}
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
  return exit_code::done;
}

}  // namespace gv::cli
