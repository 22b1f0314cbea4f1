#include "peer/launch/program/own_program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "optim/error_text.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/read/sections.h"
#include "peer/launch/launcher/peer_speeds.h"
#include "peer/launch/process/process.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

constexpr const char* where_it_is_sought =
    "it is looked for in PATH, or by its path from where `grapevine` was started";

/// Returns the first folder of PATH with an executable file of that name, or "".
template <class Runs>
std::string in_path(const std::string& name, Runs runs) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (runs((folder.empty() ? "." : folder) + "/" + name)) return folder.empty() ? "." : folder;
  return "";
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

/// Returns the peer's host by its name in the file.
std::string host_of(const Fleet& fleet, const OwnProgram& own) {
  return own.here ? "localhost" : fleet.peers.at(own.id).host;
}

/// Returns the program's working directory, or "" for the current one.
std::string folder_of(const Fleet& fleet, const OwnProgram& own) {
  const std::string host = host_of(fleet, own);
  const auto row = std::ranges::find(fleet.hosts, host, &HostSpec::name);
  return row == fleet.hosts.end() ? "" : row->folder;
}

/// Moves the launcher's streams to descriptors that no program prints to.
void move_descriptors() {
  ::dup2(STDIN_FILENO, program_ear);
  ::dup2(STDOUT_FILENO, program_mouth);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

/// Returns the words in the form of execvpe: pointers into `words`, which must outlive them.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the address of the machine of peer 0.
std::string address_of_first(const Fleet& fleet) {
  const std::string& host = fleet.peers.front().host;
  const auto row = std::ranges::find(fleet.hosts, host, &HostSpec::name);
  if (row != fleet.hosts.end() && !row->address.empty()) return row->address;
  return host == "localhost" ? loopback_host() : host;
}

/// Returns a port of the fleet, below the ephemeral ports; the other tasks use the next one.
int master_port(const Fleet& fleet, bool asked) {
  constexpr int first = 20'000;
  constexpr unsigned long most = 5'000;
  const auto number = std::strtoul(fleet.digest.substr(0, 8).c_str(), nullptr, 16);
  return first + 2 * static_cast<int>(number % most) + (asked ? 1 : 0);
}

/// Returns values for the words of torchrun_env(). In other tasks a program is a group of one.
std::map<std::string, std::string> torchrun_words(const Fleet& fleet, const OwnProgram& own) {
  const bool asked = own.task != "peer";
  PeerId place = 0;
  PeerId count = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) {
    if (fleet.peers[i].host != fleet.peers[own.id].host) continue;
    if (i < own.id) ++place;
    ++count;
  }
  return {{"{rank}", std::to_string(asked ? 0 : own.id)},
          {"{world_size}", std::to_string(asked ? 1 : fleet.trainers())},
          {"{local_rank}", std::to_string(asked ? 0 : place)},
          {"{local_world_size}", std::to_string(asked ? 1 : count)},
          {"{master_addr}", asked ? loopback_host() : address_of_first(fleet)},
          {"{master_port}", std::to_string(master_port(fleet, asked))}};
}

/// Returns the folder of the running program.
std::string own_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
}

/// Removes our folder from the library path: a pushed program finds its libraries there, but
/// those of the user's program are different.
std::string without_own_folder(const std::string& paths) {
  const std::string own = own_folder();
  if (own.empty() || !paths.starts_with(own)) return paths;
  const std::string rest = paths.substr(own.size());
  return rest.empty() || rest.front() == ':' ? rest.substr(std::min<std::size_t>(1, rest.size()))
                                             : paths;
}

/// Returns our environment without variables that an outer peer may have left in it.
std::vector<std::string> whole_environment(const std::map<std::string, std::string>& added) {
  constexpr std::string_view libraries = "LD_LIBRARY_PATH";
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const std::string name(entry.substr(0, entry.find('=')));
    const bool outer = name == "GRAPEVINE_PEER" || name == "GRAPEVINE_TASK";
    if (outer || added.contains(name)) continue;
    if (name != libraries) {
      all.emplace_back(entry);
      continue;
    }
    const std::string paths = without_own_folder(std::string(entry.substr(name.size() + 1)));
    if (!paths.empty()) all.push_back(name + "=" + paths);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

std::string peer_word(const OwnProgram& own) {
  return Json{
      {"format", "grapevine.peer/1"},
      {"fleet", std::filesystem::absolute(own.file).string()},
      {"sets", own.sets},
      {"id", own.id},
      {"folder",
       own.folder.empty() ? Json() : Json(std::filesystem::absolute(own.folder).string())},
      {"listen", text_or_null(own.listen)},
      {"keys", text_or_null(own.keys)},
      {"rejoin", own.rejoin},
      {"from", own.from},
      {"clock", own.clock},
      {"start", own.start.empty() ? Json() : Json(std::filesystem::absolute(own.start).string())},
      {"wait", own.wait},
      {"meet", own.meet.empty() ? Json() : Json(std::filesystem::absolute(own.meet).string())},
      {"at", text_or_null(own.at)},
      {"control", own.launched}}
      .dump();
}

std::map<std::string, std::string> program_environment(const Fleet& fleet, const OwnProgram& own) {
  const PeerSpec& peer = fleet.peers.at(own.id);
  std::map<std::string, std::string> added{
      {"GRAPEVINE_PEER", peer_word(own)},
      {"GRAPEVINE_FLEET", std::filesystem::absolute(own.file).string()},
      {"GRAPEVINE_TASK", own.task},
      {"OMP_NUM_THREADS", std::to_string(peer.threads)}};
  const std::string& device = own.task == "ask" ? fleet.evaluate_device : peer.device;
  if (const std::size_t colon = device.find(':'); colon != std::string::npos)
    added["CUDA_VISIBLE_DEVICES"] = device.substr(colon + 1);
  if (std::getenv("GRAPEVINE_LIBRARY") == nullptr)
    if (const std::string library = library_of("/proc/self/exe"); !library.empty())
      added["GRAPEVINE_LIBRARY"] = library;
  const std::map<std::string, std::string> words = torchrun_words(fleet, own);
  for (const auto& [name, value] : fleet.program->env) {
    const auto word = words.find(value);
    added[name] = word == words.end() ? value : word->second;
  }
  return added;
}

std::string script_name(const ProgramSpec& program) {
  const auto is_script = [](const std::string& word) { return word.ends_with(".py"); };
  const auto script = std::ranges::find_if(program.command, is_script);
  const std::string& word = script == program.command.end() ? program.command.front() : *script;
  return printable(std::filesystem::path(word).filename().string(), 100);
}

std::string library_of(const std::string& grapevine) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path program = fs::canonical(grapevine, none);
  if (none) return "";
  const std::string multiarch = fmt::format("../lib/{}-linux-gnu", own_processor);
  for (const std::string_view place : {".", "..", "../lib", multiarch.c_str()}) {
    const fs::path library = fs::canonical(program.parent_path() / place / "libgrapevine.so", none);
    if (!none && fs::is_regular_file(library, none)) return library.string();
  }
  return "";
}

void check_program_is_there(const Fleet& fleet) {
  const std::string& name = fleet.program->command.front();
  const auto runs = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos ? runs(name) : !in_path(name, runs).empty()) return;
  throw std::runtime_error(about_program(
      fleet, fmt::format("there is no program `{}`", printable(name, 300)), where_it_is_sought));
}

void become_program(const Fleet& fleet, const OwnProgram& own) {
  std::vector<std::string> words = fleet.program->command;
  std::vector<std::string> surroundings = whole_environment(program_environment(fleet, own));
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> env = pointers_to(surroundings);
  if (const std::string folder = folder_of(fleet, own);
      !folder.empty() && ::chdir(folder.c_str()) != 0)
    throw std::runtime_error(about_program(
        fleet, fmt::format("cannot run in {}: {}", printable(folder, 300), error_text(errno)),
        fmt::format("`hosts.{}.folder` names it", host_of(fleet, own))));
  if (own.launched) move_descriptors();
  reset_inherited();
  ::execvpe(argv.front(), argv.data(), env.data());
  const int error = errno;
  throw std::runtime_error(about_program(
      fleet, fmt::format("cannot start `{}`: {}", printable(words.front(), 300), error_text(error)),
      where_it_is_sought));
}

}  // namespace gv
