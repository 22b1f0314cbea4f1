#include "peer/program/own_program.h"

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
#include "peer/fleet/program_reader.h"
#include "peer/json/json.h"

namespace gv {
namespace {

constexpr const char* where_it_is_sought =
    "it is looked for in PATH, or by its path from where `grapevine` was started";

/// The first folder of PATH with a file of that name that runs; "": none.
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

/// In which it runs; "": where it was started.
std::string folder_of(const Fleet& fleet, PeerId id) {
  const std::string& host = fleet.peers.at(id).host;
  const auto row = std::ranges::find(fleet.hosts, host, &HostSpec::name);
  return row == fleet.hosts.end() ? "" : row->folder;
}

/// Its own streams are its own, and those of control are where no program prints.
void move_descriptors() {
  ::dup2(STDIN_FILENO, program_ear);
  ::dup2(STDOUT_FILENO, program_mouth);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

/// As execvpe takes them: pointers into `words`, which must stay.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Ours, without what an outer peer may have left in it.
std::vector<std::string> whole_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const std::string name(entry.substr(0, entry.find('=')));
    const bool outer = name == "GRAPEVINE_PEER" || name == "GRAPEVINE_TASK";
    if (!outer && !added.contains(name)) all.emplace_back(entry);
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
  for (const auto& [name, value] : fleet.program->env) added[name] = value;
  return added;
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
  if (const std::string folder = folder_of(fleet, own.id);
      !folder.empty() && ::chdir(folder.c_str()) != 0)
    throw std::runtime_error(about_program(
        fleet,
        fmt::format("cannot run in {}: {}", printable(folder, 300), error_text(errno)),
        fmt::format("`hosts.{}.folder` names it", fleet.peers.at(own.id).host)));
  if (own.launched) move_descriptors();
  ::execvpe(argv.front(), argv.data(), env.data());
  const int error = errno;
  throw std::runtime_error(about_program(
      fleet,
      fmt::format("cannot start `{}`: {}", printable(words.front(), 300), error_text(error)),
      where_it_is_sought));
}

}  // namespace gv
