#include "peer/record/held_round.h"

#include <exception>
#include <fstream>
#include <iterator>
#include <set>

#include "peer/fleet/json/json.h"
#include "peer/fleet/json/json_member.h"

namespace gv {
namespace {

constexpr const char* file_name = "held.json";

/// Reads metrics.jsonl; a line that makes no sense is somebody else's to complain of.
std::set<PeerId> lost_peers(const std::string& run_folder) {
  std::ifstream in(run_folder + "/metrics.jsonl");
  std::set<PeerId> lost;
  for (std::string line; std::getline(in, line);) {
    try {
      const JsonValue json = parse_json(line, "metrics.jsonl");
      const std::string& event = json_text(json, "event");
      if (event == "lost") lost.insert(json_integer<PeerId>(json, "peer"));
      if (event == "restarted") lost.erase(json_integer<PeerId>(json, "peer"));
    } catch (const std::exception&) {
    }
  }
  return lost;
}

}  // namespace

void write_held_round(const RunFolder& folder, Round round) {
  try {
    folder.write(file_name, Json{{"round", round}}.dump() + "\n");
  } catch (const std::runtime_error&) {
  }
}

std::optional<Round> round_before_loss(const std::string& run_folder) {
  std::ifstream in(run_folder + "/" + file_name);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty() || lost_peers(run_folder).empty()) return {};
  try {
    return json_integer<Round>(parse_json(text, file_name), "round");
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace gv
