#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/wire/tcp/tcp_world.h"

namespace gv::embed {

// The JSON texts that calls of grapevine_program.h take, read strictly: each reader throws a Fault
// that names the call, the member and what it may be.

/// The task for which a program's process is started.
enum class ProgramTask : std::uint8_t { peer, ask, measure };

/// The words of gv_open.
struct OpenWords {
  std::string fleet;  ///< a path; "" with `text` "" too: none
  std::string text;
  std::vector<std::string> sets;
  std::optional<PeerId> id;
  std::string listen_address;  ///< "": by the fleet file
  std::uint16_t listen_port = 0;
  std::string folder;
  std::string keys;
  bool rejoin = false;
  std::optional<Round> from;
  double clock_seconds = 0;
  std::string start;
  double wait_seconds = 120;
  std::string meet;  ///< a folder in which peers find each other; "": by the fleet file
  std::string at;    ///< where each is found (address_pattern.h); "": likewise
  ProgramTask task = ProgramTask::peer;
  bool control = false;
  bool log = true;

  /// A fleet of one that no file describes.
  bool is_alone() const { return fleet.empty() && text.empty(); }
};

using Environment = std::function<const char*(const char*)>;
/// `json` may be null, as in each of these. What it leaves out, `environment` says. A fleet without
/// an id is how other launchers start the program: where `grapevine` has, its words alone count.
OpenWords open_words(const char* json, const Environment& environment);

/// The words of gv_simulate.
struct SimulationWords {
  OpenWords open;
  std::optional<double> step_seconds;  ///< of a gradient and a step at speed 1; nothing: measured
};
SimulationWords simulation_words(const char* json);

/// The words of gv_simulated.
struct SeatWords {
  std::optional<PeerId> id;  ///< there for task `peer`
  ProgramTask task = ProgramTask::peer;
};
SeatWords seat_words(const char* json);

/// The words of gv_attach.
struct AttachWords {
  bool evaluates = false;
  bool saves = false;
  bool whole = false;
  bool own_arithmetic = false;
  std::uint64_t samples = 0;  ///< 0: not said
  std::string optimizer;
  std::map<std::string, std::string> versions;
};
AttachWords attach_words(const char* json);

/// Reads the addresses of gv_begin.
std::vector<PeerAddress> address_words(const char* json);

/// The words of gv_say.
struct SayWords {
  std::vector<std::pair<std::string, double>> log;
  std::vector<std::pair<std::string, double>> figures;
  std::string text;
  bool stop = false;
};
SayWords say_words(const char* json);

}  // namespace gv::embed
