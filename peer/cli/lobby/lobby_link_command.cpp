#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/agent/transport/ssh.h"

namespace gv::cli {
namespace {

struct LinkArguments {
  std::string host;
  AgentWords words;
  bool wait = false;
};

constexpr std::size_t most_waiting = std::size_t{1} << 20;
constexpr int no_connection = 255;  ///< exit code, as ssh has it

Descriptor connect_to_lobby() {
  const char* const path = std::getenv(lobby_variable);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path == nullptr || std::string_view(path).size() >= sizeof address.sun_path)
    throw std::runtime_error(fmt::format("{} names no lobby", lobby_variable));
  std::string_view(path).copy(address.sun_path, sizeof address.sun_path - 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("the lobby has ended");
  return socket;
}

/// Reads the lobby's answer up to its line end. Returns "" if the agent is there.
std::string answer_of(int lobby) {
  std::string line;
  for (char c = 0; ::read(lobby, &c, 1) == 1;) {
    if (c == '\n') return line;
    line += c;
  }
  return "the lobby has ended";
}

/// Passes bytes on until the agent's end of the stream closes.
void pass_on(PipePair& here, PipePair& there, int lobby) {
  bool told = false;
  while (!there.ended() || here.waiting() > 0) {
    std::vector<pollfd> fds;
    here.add_to(fds);
    there.add_to(fds);
    ::poll(fds.data(), fds.size(), 100);
    if (there.waiting() < most_waiting) there.write(here.read());
    if (here.waiting() < most_waiting) here.write(there.read());
    here.flush();
    there.flush();
    if (here.ended() && there.waiting() == 0 && !told) {
      ::shutdown(lobby, SHUT_WR);
      told = true;
    }
  }
}

int link(const LinkArguments& arguments) {
  Descriptor lobby = connect_to_lobby();
  Json message = agent_order(arguments.words);
  message["host"] = arguments.host;
  message["wait"] = arguments.wait;
  const std::string order = message.dump() + "\n";
  if (::write(lobby.get(), order.data(), order.size()) != static_cast<ssize_t>(order.size()))
    throw std::runtime_error("the lobby has ended");
  if (const std::string refusal = answer_of(lobby.get()); !refusal.empty()) {
    fmt::print(stderr, "{}\n", printable(refusal, 300));
    return no_connection;
  }
  const int socket = lobby.get();
  PipePair there(Descriptor(::dup(socket)), std::move(lobby));
  PipePair here(Descriptor(::dup(STDIN_FILENO)), Descriptor(::dup(STDOUT_FILENO)));
  pass_on(here, there, socket);
  return exit_code::done;
}

void link_options(Options& options, LinkArguments& arguments) {
  options.value("--host", arguments.host, "Machine in the lobby").required();
  options.value("--nonce", arguments.words.nonce, "Name under which the launcher knows the agent")
      .required();
  options.value("--run", arguments.words.run, "The name of the run's folder on that machine")
      .required();
  options.value("--leash", arguments.words.leash_seconds, "Seconds without a word of the launcher")
      .range(1.0, 1e9);
  options.value("--grace", arguments.words.grace_seconds, "Seconds for the peers to end")
      .range(0.0, 1e6);
  options.flag("--wait", arguments.wait, "Wait for a machine that is away to come back");
}

}  // namespace

Command lobby_link_command() {
  Command row = command(
      "lobby-link", "Connect a launcher with an agent on a machine of the lobby (run does)",
      "  grapevine lobby-link --host ben --nonce 0123456789abcdef --run ring8-0123456789abcdef",
      link_options, link);
  row.hidden = true;
  return row;
}

}  // namespace gv::cli
