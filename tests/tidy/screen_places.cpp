#include "tests/tidy/screen_places.h"

#include <algorithm>

namespace gv::tidy {

bool of_screens(const std::string& path) {
  static const char* const places[] = {"peer/agent/lan.cpp",
                                       "peer/agent/link_table",
                                       "peer/agent/ssh.cpp",
                                       "peer/bench/",
                                       "peer/cli/",
                                       "peer/compare/comparison_",
                                       "peer/compare/critical_path",
                                       "peer/compare/expectation_text",
                                       "peer/compare/explain",
                                       "peer/compare/map_text",
                                       "peer/compare/verdict_text",
                                       "peer/deploy/",
                                       "peer/draft/",
                                       "peer/export/",
                                       "peer/fleet/digest",
                                       "peer/fleet/peer_group",
                                       "peer/fleet/table_statistics",
                                       "peer/fleet/target_spec",
                                       "peer/keys/",
                                       "peer/live/http_access",
                                       "peer/live/http_answer",
                                       "peer/live/live_",
                                       "peer/live/openmetrics",
                                       "peer/live/run_finder",
                                       "peer/live/top_",
                                       "peer/page/",
                                       "peer/predict/calibrate/calibration_view",
                                       "peer/predict/forecast/",
                                       "peer/report/",
                                       "peer/runtime/example_fleet",
                                       "peer/sim/trace_words",
                                       "peer/sweep/estimate",
                                       "peer/sweep/slurm_script",
                                       "peer/sweep/sweep_screen",
                                       "graph/formats/",
                                       "graph/spec/"};
  return std::ranges::any_of(places, [&](const char* place) { return path.starts_with(place); });
}

}  // namespace gv::tidy
