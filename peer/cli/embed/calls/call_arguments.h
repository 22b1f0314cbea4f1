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

// Strict readers of the JSON texts that calls of grapevine_program.h take. Each throws a Fault with
// the call, the member and its allowed values.

/// Task of a program's process.
enum class ProgramTask : std::uint8_t { peer, ask, measure };

/// Arguments of gv_open.
struct OpenWords {
  std::string fleet;  ///< a path; "" for none
  std::string text;
  std::vector<std::string> sets;
  std::optional<PeerId> id;
  std::string listen_address;  ///< "" for the fleet file's
  std::uint16_t listen_port = 0;
  std::string folder;
  std::string keys;
  bool rejoin = false;
  std::optional<Round> from;
  double clock_seconds = 0;
  std::string start;
  double wait_seconds = 120;
  std::string meet;  ///< rendezvous folder; "" if not used
  std::string at;    ///< addresses (address_pattern.h); "" if not used
  ProgramTask task = ProgramTask::peer;
  bool control = false;
  bool log = true;

  /// Returns whether this is a fleet of one without a file.
  bool is_alone() const { return fleet.empty() && text.empty(); }
};

using Environment = std::function<const char*(const char*)>;
/// `json` may be null, as in each function here. `environment` supplies the members that `json`
/// leaves out. A program of another launcher names a fleet without an id; if `grapevine` has
/// started the process, only its own words count.
OpenWords open_words(const char* json, const Environment& environment);

/// Arguments of gv_simulate.
struct SimulationWords {
  OpenWords open;
  std::optional<double> step_seconds;  ///< gradient and step at speed 1; measured if absent
};
SimulationWords simulation_words(const char* json);

/// Arguments of gv_simulated.
struct VirtualPeerWords {
  std::optional<PeerId> id;  ///< set for the task `peer`
  ProgramTask task = ProgramTask::peer;
};
VirtualPeerWords virtual_peer_words(const char* json);

/// Arguments of gv_attach.
struct AttachWords {
  bool evaluates = false;
  bool saves = false;
  bool whole = false;
  bool own_arithmetic = false;
  std::uint64_t samples = 0;  ///< 0 if unknown
  std::string optimizer;
  std::map<std::string, std::string> versions;
};
AttachWords attach_words(const char* json);

/// Reads the addresses of gv_begin.
std::vector<PeerAddress> address_words(const char* json);

/// Arguments of gv_say.
struct SayWords {
  std::vector<std::pair<std::string, double>> log;
  std::vector<std::pair<std::string, double>> figures;
  std::string text;
  bool stop = false;
};
SayWords say_words(const char* json);

}  // namespace gv::embed
