#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// Descriptors between a launcher and a program: the protocol of control.h, moved away from the
/// standard streams of a program that reads and prints.
inline constexpr int program_ear = 4;    ///< messages from the launcher
inline constexpr int program_mouth = 5;  ///< messages to the launcher

/// Peer and fleet that a program represents, and the task it is started for.
struct OwnProgram {
  std::string task = "peer";  ///< | ask | measure (program_words.h)
  std::string file{};         ///< path of the fleet file
  std::vector<std::string> sets{};
  PeerId id = 0;
  bool here = false;             ///< on its launcher's machine, whatever host the peer has
  bool launched = false;         ///< a launcher uses descriptors 0, 1 and 3
  std::string folder{};          ///< for its checkpoints, ledger and record; "" for none
  std::string listen{};          ///< "0.0.0.0:27000"; "" for its host's address
  std::string meet{};            ///< folder in which peers without a launcher find each other
  std::string at{};              ///< or all addresses (launch/address_pattern.h)
  std::string keys{};            ///< folder of its key; "" for security.keys
  std::string start{};           ///< a .safetensors file with x_0; "" for the tensors' values
  std::optional<double> wait{};  ///< maximum wait for the neighbours, seconds
  bool rejoin = false;           ///< see PeerPast
  std::optional<Round> from{};   ///< see PeerPast
  double clock = 0;              ///< seconds; see PeerPast
};

/// Returns the program's name in messages: the script among the words of its command.
std::string script_name(const ProgramSpec& program);

/// Returns the path of libgrapevine.so of the same build as the program `grapevine`: in its folder,
/// or at the path of a wheel or a package; "" if there is none.
std::string library_of(const std::string& grapevine);

/// Returns GRAPEVINE_PEER: one line of JSON, format grapevine.peer/1, which gv_open of the C
/// interface reads.
std::string peer_word(const OwnProgram& own);

/// Returns the variables that a peer adds to its program's environment; those in the file override
/// ours.
std::map<std::string, std::string> program_environment(const Fleet& fleet, const OwnProgram& own);

/// Throws std::runtime_error with the line of the fleet file if its program, which is searched as
/// exec does, cannot be started here.
void check_program_is_there(const Fleet& fleet);

/// Becomes the fleet's program by exec, in the same process. If launched, descriptors 0 and 1 move
/// to program_ear and program_mouth, stdin is empty, and stdout goes to stderr. Throws
/// std::runtime_error with the line of the fleet file if there is no such program.
[[noreturn]] void become_program(const Fleet& fleet, const OwnProgram& own);

}  // namespace gv
