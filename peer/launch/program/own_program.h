#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// The descriptors at which a launcher and a program find each other: as control.h has it between a
/// launcher and a peer, but moved out of the way of a program that reads and prints.
inline constexpr int program_ear = 4;    ///< what the launcher says
inline constexpr int program_mouth = 5;  ///< what it hears

/// The peer and the fleet that a program stands for, and what it is started for.
struct OwnProgram {
  std::string task = "peer";  ///< | ask | measure (program_words.h)
  std::string file{};         ///< of the fleet
  std::vector<std::string> sets{};
  PeerId id = 0;
  bool here = false;             ///< where its launcher is, whatever host the peer has
  bool launched = false;         ///< somebody speaks on descriptors 0, 1 and 3
  std::string folder{};          ///< takes its checkpoints, its ledger and its record; "": none
  std::string listen{};          ///< "0.0.0.0:27000"; "": its host's address
  std::string meet{};            ///< a folder in which peers without a launcher find each other
  std::string at{};              ///< or where each is found (launch/address_pattern.h)
  std::string keys{};            ///< folder of its key; "": security.keys
  std::string start{};           ///< a .safetensors file with x_0; "": what its tensors hold
  std::optional<double> wait{};  ///< seconds for the neighbours to appear
  bool rejoin = false;           ///< see PeerPast
  std::optional<Round> from{};   ///< likewise
  double clock = 0;              ///< seconds, likewise
};

/// Returns what a program is called in messages: the script among the words of its command.
std::string script_name(const ProgramSpec& program);

/// libgrapevine.so of the same build as that program `grapevine`: beside it, or where a wheel or a
/// package has it; "": there is none.
std::string library_of(const std::string& grapevine);

/// GRAPEVINE_PEER: one line of JSON, format grapevine.peer/1, which gv_open of the C interface
/// reads.
std::string peer_word(const OwnProgram& own);

/// Returns what a peer adds to the environment of its program; the file's own words come last.
std::map<std::string, std::string> program_environment(const Fleet& fleet, const OwnProgram& own);

/// Throws std::runtime_error with the line of the fleet file when its program cannot be started
/// here: it is looked for as exec does.
void check_program_is_there(const Fleet& fleet);

/// Becomes the fleet's program by exec: the same process, with its descriptors 0 and 1 at
/// program_ear and program_mouth where it was launched, nothing to read, and stdout where stderr
/// goes. Throws std::runtime_error with the line of the fleet file when there is no such program.
[[noreturn]] void become_program(const Fleet& fleet, const OwnProgram& own);

}  // namespace gv
