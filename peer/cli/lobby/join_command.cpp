#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/launch/agent/agent.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/discovery/discovery.h"
#include "peer/launch/lobby/lobby.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

struct JoinArguments {
  std::vector<std::string> code;  ///< in one word or several
  std::string at, name, folder, data;
  std::uint32_t cores = 0;
  double memory_gb = 0;
  bool no_program = false;
  bool yes = false;
};

constexpr auto search_patience = std::chrono::seconds(8);

[[noreturn]] void refuse_two(const std::vector<FoundLobby>& found) {
  std::string text = fmt::format("join: {} lobbies have this number:", found.size());
  for (const FoundLobby& each : found)
    text += fmt::format("\n       {}", host_port_text(each.addresses.front(), each.notice.port));
  throw std::runtime_error(text + "\nhelp:  say which one: --at ADDRESS:PORT");
}

/// Returns the lobby's addresses: those of --at, or those that it announces on this network.
std::vector<HostPort> addresses_of_lobby(const JoinArguments& arguments,
                                         const JoinCode& code,
                                         const std::function<bool()>& stopped) {
  if (!arguments.at.empty()) return {parse_host_port(arguments.at)};
  const std::vector<FoundLobby> found = find_lobbies(code.lobby, search_patience, stopped);
  if (found.size() > 1) refuse_two(found);
  std::vector<HostPort> all;
  for (const FoundLobby& lobby : found)
    for (const std::string& address : lobby.addresses) all.push_back({address, lobby.notice.port});
  return all;
}

/// Limits this process, and with it the agents and peers that it starts.
void limit_ourselves(const JoinArguments& arguments, MachineOffer& offer) {
  if (arguments.cores > 0) {
    cpu_set_t now, wanted;
    CPU_ZERO(&wanted);
    ::sched_getaffinity(0, sizeof now, &now);
    offer.cores = 0;
    for (int core = 0; core < CPU_SETSIZE && offer.cores < arguments.cores; ++core)
      if (CPU_ISSET(core, &now)) CPU_SET(core, &wanted), ++offer.cores;
    ::sched_setaffinity(0, sizeof wanted, &wanted);
  }
  if (arguments.memory_gb > 0) {
    offer.memory_bytes = static_cast<std::uint64_t>(arguments.memory_gb * 1e9);
    const rlimit limit{offer.memory_bytes, offer.memory_bytes};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  if (!arguments.folder.empty()) {
    std::filesystem::create_directories(arguments.folder);
    ::setenv("XDG_CACHE_HOME", std::filesystem::absolute(arguments.folder).c_str(), 1);
  }
  offer.program = !arguments.no_program;
  if (arguments.no_program) ::setenv(no_code_variable, "1", 1);
}

/// Says what the lobby will be able to do here.
std::string terms(const MachineOffer& offer, const JoinArguments& arguments) {
  std::string text = "This machine lets the lobby:\n";
  text += fmt::format(
      "  train on {} of its {} cores{}\n", offer.cores, offer.facts.cores,
      offer.devices.empty() ? "" : fmt::format(" and {} CUDA devices", offer.devices.size()));
  text += arguments.memory_gb > 0
              ? fmt::format("  use {} of memory in each process\n",
                            bytes_text(arguments.memory_gb * 1e9))
              : fmt::format("  use its memory ({})\n",
                            bytes_text(static_cast<double>(offer.memory_bytes)));
  text += fmt::format("  write below {}\n", cache_folder(""));
  text += "  read data files that its fleet files name, wherever you can read them\n";
  text += offer.program
              ? "  run programs that its fleet files name, with all your rights (--no-program "
                "forbids it)\n"
              : "  run no program and no plug-in of its fleet files\n";
  if (!offer.data.empty())
    text += fmt::format("  train on {}, which stays here\n", printable(offer.data, 200));
  return text;
}

/// Asks on the terminal. Returns whether the user agrees.
bool agrees(const JoinArguments& arguments) {
  if (arguments.yes) return true;
  if (::isatty(STDIN_FILENO) == 0)
    throw std::invalid_argument(
        "join: there is no terminal on which to ask for your consent\nhelp:  --yes consents");
  fmt::print(stderr, "Join? [Y/n] ");
  std::fflush(stderr);
  std::string answer;
  for (int c = std::getchar(); c != '\n'; c = std::getchar()) {
    if (c == EOF) return false;
    answer += static_cast<char>(c);
  }
  return answer.empty() || answer[0] == 'y' || answer[0] == 'Y';
}

int join(const JoinArguments& arguments) {
  console::never_wait();
  const std::string words = fmt::format("{}", fmt::join(arguments.code, " "));
  const auto code = parse_join_code(words);
  if (!code)
    throw std::invalid_argument(fmt::format(
        "join: '{}' is no code: it has eight digits, such as 42-731-908, and is on the lobby's "
        "screen",
        printable(words, 40)));
  if (!arguments.at.empty()) parse_host_port(arguments.at);
  MachineOffer offer = own_offer(arguments.data);
  if (!arguments.name.empty()) offer.name = machine_name(arguments.name);
  limit_ourselves(arguments, offer);
  if (!offer.data.empty()) offer.data_folder = cache_folder("joined-data");
  fmt::print(stderr, "{}", terms(offer, arguments));
  if (!agrees(arguments)) return exit_code::done;
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  if (arguments.at.empty()) say(fmt::format("looking for lobby {:02}", code->lobby));
  return run_member({.program = peer_program(),
                     .code = *code,
                     .offer = offer,
                     .find =
                         [&](const std::function<bool()>& stopped) {
                           return addresses_of_lobby(arguments, *code, stopped);
                         },
                     .say = say});
}

void join_options(Options& options, JoinArguments& arguments) {
  options.value("CODE", arguments.code, "Code on the lobby's screen, such as 42-731-908")
      .required();
  options
      .value("--at", arguments.at,
             "Address of the lobby, if machines cannot find each other on this network")
      .call_values("HOST:PORT");
  options.value("--name", arguments.name, "Name of this machine (default: its host name)");
  options.value("--cores", arguments.cores, "Maximum number of cores (default: all)");
  options.value("--memory", arguments.memory_gb, "Maximum memory of each process, in GB")
      .range(0.1, 1e6);
  options.value("--folder", arguments.folder, "Folder for files of runs (default: ~/.cache)");
  options.value("--data", arguments.data, "This machine's own part of the data; it stays here")
      .call_values("FILE");
  options.flag("--no-program", arguments.no_program, "Run no code that a fleet file names");
  options.flag("--yes", arguments.yes, "Do not ask for consent");
}

}  // namespace

Command join_command() {
  return command("join", "Let a lobby on another machine train on this one, without ssh",
                 "  grapevine join 42-731-908\n"
                 "  grapevine join 42-731-908 --cores 4 --no-program\n"
                 "  grapevine join 42-731-908 --data part.csv\n"
                 "  grapevine join 42-731-908 --at 192.168.1.7:40123 --yes",
                 join_options, join);
}

}  // namespace gv::cli
