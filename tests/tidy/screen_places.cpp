#include "tests/tidy/screen_places.h"

#include <algorithm>

namespace gv::tidy {

bool of_screens(const std::string& path) {
  // The interface for other programs is among the commands, but has no screens.
  if (path.starts_with("peer/cli/embed/")) return false;
  static const char* const places[] = {"peer/cli/",
                                       "peer/fleet/digest",
                                       "peer/fleet/draft/",
                                       "peer/fleet/keys/",
                                       "peer/fleet/reference/",
                                       "peer/fleet/fleet.cpp",
                                       "peer/fleet/data/table_statistics",
                                       "peer/fleet/specs",
                                       "peer/launch/agent/lan/lan.cpp",
                                       "peer/launch/agent/link_bench",
                                       "peer/launch/agent/transport/ssh.cpp",
                                       "peer/launch/deploy/",
                                       "peer/record/export/",
                                       "peer/record/report/",
                                       "peer/runtime/views",
                                       "peer/runtime/example_fleet",
                                       "peer/show/live/http/http_server",
                                       "peer/show/live/live_",
                                       "peer/show/live/openmetrics",
                                       "peer/show/live/run_finder",
                                       "peer/show/live/top_",
                                       "peer/show/page/",
                                       "peer/sim/world/sim_network",
                                       "peer/study/bench/",
                                       "peer/study/compare/comparison_",
                                       "peer/study/compare/critical_path",
                                       "peer/study/compare/comparison_text",
                                       "peer/study/predict/calibrate/calibrated_model",
                                       "peer/study/predict/forecast/",
                                       "peer/study/sweep/estimate",
                                       "peer/study/sweep/sweep_screen",
                                       "graph/formats/",
                                       "graph/spec/"};
  return std::ranges::any_of(places, [&](const char* place) { return path.starts_with(place); });
}

}  // namespace gv::tidy
