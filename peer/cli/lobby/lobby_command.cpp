#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "optim/machine/cache_home.h"
#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/lobby/lobby_page.h"
#include "peer/cli/lobby/lobby_start.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/discovery/discovery.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/runtime/assembly/load_data.h"
#include "peer/show/live/live_address.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct LobbyArguments {
  FleetOptions file;
  std::uint32_t port = 0, machines = 0;
  bool resume = false, not_here = false, no_measure = false;
};

constexpr int lobby_protocol = 1;
constexpr int tick_ms = 100;

/// State of a lobby that another process needs to take its place with --resume.
struct KeptLobby {
  JoinCode code;
  std::string again{};  ///< see LobbyOptions
  std::uint16_t port = 0;
  std::string folder{};                 ///< folder of the run; "" before the start
  std::vector<std::string> machines{};  ///< machines of the run
};

std::string kept_file() {
  return cache_folder("lobby") + "/last.json";
}

void keep(const KeptLobby& lobby) {
  const std::string text = Json{
      {"code", to_string(lobby.code)},
      {"again", lobby.again},
      {"port", lobby.port},
      {"folder", lobby.folder},
      {"machines",
       lobby.machines}}.dump();
  write_file(kept_file(), text + "\n");  // in a folder that only its owner can open
}

KeptLobby kept() {
  const std::string text = text_of_file(kept_file());
  if (text.empty())
    throw std::invalid_argument("lobby: --resume: no lobby of yours was open on this machine");
  const JsonValue json = parse_json(text, kept_file());
  const auto code = parse_join_code(json_text(json, "code"));
  if (!code) throw std::runtime_error(kept_file() + ": holds no code");
  KeptLobby lobby{.code = *code,
                  .again = json_text(json, "again"),
                  .port = json_integer<std::uint16_t>(json, "port"),
                  .folder = json_text(json, "folder")};
  for (const JsonValue& each : json_member(json, "machines").items)
    lobby.machines.push_back(each.text);
  return lobby;
}

/// Draws a code whose number no other lobby of this network has.
JoinCode free_code() {
  JoinCode code = new_join_code();
  for (int tries = 0; tries < 5; ++tries) {
    if (find_lobbies(code.lobby, std::chrono::milliseconds(400)).empty()) return code;
    code = new_join_code();
  }
  return code;
}

/// Returns the name of a peer's part relative to the fleet file, or without folders.
std::string part_name(const Fleet& fleet, PeerId id) {
  const fs::path path = fleet.data.table_file(id);
  const fs::path folder = fs::path(fleet.path).parent_path();
  const std::string name = path.lexically_relative(folder.empty() ? "." : folder).string();
  return name.empty() || name.starts_with("..") ? path.filename().string() : name;
}

/// Lines of the user on stdin, without waiting.
class UserLines {
 public:
  /// Returns the next line, or nothing if there is none now.
  std::optional<std::string> take() {
    pollfd fd{STDIN_FILENO, POLLIN, 0};
    while (open_ && ::poll(&fd, 1, 0) == 1) {
      char c = 0;
      if (::read(STDIN_FILENO, &c, 1) != 1)
        open_ = false;
      else if (c == '\n')
        return std::exchange(line_, {});
      else
        line_ += c;
    }
    return std::nullopt;
  }

  bool open() const { return open_; }  ///< the stream has not ended

 private:
  bool open_ = true;
  std::string line_;
};

/// Returns an error as commands print it.
std::string error_text(const std::string& error) {
  return (error.starts_with("error: ") ? "" : "error: ") + error;
}

/// A command of ours on the user's terminal. It dies with this process: its machines are lost then,
/// and waiting for them would only delay a resumed lobby.
class OnTerminal {
 public:
  explicit OnTerminal(std::vector<std::string> argv) {
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("lobby: no process can be started");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::execv(words[0], words.data());
    ::_exit(exit_code::could_not_start);
  }

  /// Waits for its end, and passes on the signals that come meanwhile. Returns the exit code.
  int wait(StopSignals& signals, const std::function<void()>& on_tick) {
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      on_tick();
      pollfd fd{signals.fd(), POLLIN, 0};
      if (::poll(&fd, 1, tick_ms) != 1) continue;
      signals.take();
      ::kill(pid_, signals.code() == exit_code::interrupted ? SIGINT : SIGTERM);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : exit_code_of(WTERMSIG(status));
  }

 private:
  pid_t pid_ = -1;
};

LobbyMember own_machine() {
  LobbyMember member{.offer = own_offer(""), .here = true};
  member.offer.name += " (here)";
  return member;
}

class LobbyScreen {
 public:
  /// `fleet`: that of the arguments, if they name one.
  LobbyScreen(const LobbyArguments& arguments, std::optional<Fleet> fleet)
      : arguments_(arguments),
        kept_(arguments.resume
                  ? kept()
                  : KeptLobby{.code = free_code(), .again = std::string(RunToken().text())}),
        socket_(
            fmt::format("{}/{:02}-{}.sock", cache_folder("lobby"), kept_.code.lobby, ::getpid())),
        lobby_({.code = kept_.code,
                .again = kept_.again,
                .name = machine_name(host_name()),
                .port = arguments.resume ? kept_.port : static_cast<std::uint16_t>(arguments.port),
                .socket = socket_,
                .say = say}),
        responder_(kept_.code.lobby, lobby_.port(), lobby_protocol),
        own_(arguments.not_here ? std::vector<LobbyMember>() : std::vector{own_machine()}),
        page_(lobby_, kept_.code.lobby, own_),
        fleet_(std::move(fleet)) {
    ::setenv(lobby_variable, socket_.c_str(), 1);
    kept_.port = lobby_.port();
    keep(kept_);
  }

  int run() {
    greet();
    if (!kept_.folder.empty()) return run_again();
    while (signals_.take() == StopSignals::Wish::none) {
      std::optional<int> code;
      if (const auto line = lines_.take())
        code = obey(*line);
      else if (fleet_ && is_complete() && offers() != refused_with_)
        code = start_or_stay();
      if (code) return *code;
      pollfd fd{signals_.fd(), POLLIN, 0};
      ::poll(&fd, 1, tick_ms);
    }
    return signals_.code();
  }

 private:
  static void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

  void greet() const {
    const std::string code = to_string(kept_.code);
    say(fmt::format("code   {}", code));
    say(fmt::format("       on the other machines: grapevine join {}", code));
    const auto own = interface_addresses();
    if (!own.empty())
      say(fmt::format("       if they do not find it: grapevine join {} --at {}", code,
                      host_port_text(own.front().address, lobby_.port())));
    say("page   " + page_.url());
    if (fleet_)
      say(fmt::format("       starts with {} machines, or at Enter with those that are here",
                      wanted_machines()));
    else if (kept_.folder.empty())
      say("       then, here: run FLEET [--set KEY=VALUE], list, or quit");
  }

  void list(const std::vector<LobbyMember>& members) const {
    for (const LobbyMember& member : own_) say(machine_text(member));
    for (const LobbyMember& member : members) say(machine_text(member));
  }

  std::size_t wanted_machines() const {
    return arguments_.machines > 0 ? arguments_.machines : fleet_->peers.size();
  }

  std::vector<LobbyMember> here() const {
    std::vector<LobbyMember> all = lobby_.members();
    std::erase_if(all, [](const LobbyMember& member) { return !member.here; });
    return all;
  }

  bool is_complete() const { return here().size() + own_.size() >= wanted_machines(); }

  /// Carries out a line of the user. Returns the exit code if the lobby ends with it.
  std::optional<int> obey(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (!words.empty() && words[0] == "grapevine") words.erase(words.begin());
    if (words.empty() && fleet_ && !here().empty()) return start_or_stay();
    if (words.empty() && fleet_) {
      say("no machine has joined yet");
      return std::nullopt;
    }
    if (words.empty() || words[0] == "list") {
      list(lobby_.members());
    } else if (words[0] == "quit" || words[0] == "exit") {
      return exit_code::done;
    } else if (words[0] == "run" && words.size() > 1) {
      try_to_start({words.begin() + 1, words.end()});
    } else {
      say("the lobby knows: run FLEET [--set KEY=VALUE], list, quit");
    }
    return std::nullopt;
  }

  void try_to_start(const std::vector<std::string>& words) {
    FleetOptions options;
    try {
      for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k] == "--set" && k + 1 < words.size())
          options.sets.push_back(words[++k]);
        else if (options.file.empty())
          options.file = words[k];
        else
          throw std::invalid_argument("lobby: run: '" + printable(words[k], 60) + "' is unknown");
      }
      fleet_ = read_file(options);
      start(options);
    } catch (const std::exception& wrong) {
      say(error_text(wrong.what()));
    }
    fleet_.reset();
  }

  /// Returns what the machines offer that are here.
  std::string offers() const {
    std::string all;
    for (const LobbyMember& member : here()) all += offer_text(member.offer);
    return all;
  }

  /// Starts FLEET after reading it again, because the user may have changed it. If it does not
  /// start, the lobby stays open as long as the user can press Enter: its machines need not join
  /// again.
  std::optional<int> start_or_stay() {
    refused_with_ = offers();
    try {
      fleet_ = read_file(arguments_.file);
      const int code = start(arguments_.file);
      const bool started = code != exit_code::usage && code != exit_code::could_not_start;
      if (started || !lines_.open()) return code;
      forget_run();
    } catch (const std::exception& wrong) {
      if (!lines_.open()) throw;
      say(error_text(wrong.what()));
    }
    say("       tries again when a machine joins again, or at Enter; quit closes the lobby");
    return std::nullopt;
  }

  /// Lets each machine name its own part of the data by its peers, and read it. Throws if it fails.
  void prepare_data(const std::vector<LobbySeat>& seats) {
    if (!fleet_->data.per_peer()) return;
    PeerId next = 0;
    for (const LobbySeat& seat : seats) {
      std::vector<std::string> names;
      for (PeerId k = 0; k < seat.peers; ++k, ++next) {
        names.push_back(part_name(*fleet_, next));
        if (seat.data.empty()) load_data(*fleet_, next);
      }
      if (!seat.data.empty()) lobby_.send(seat.machine, part_order(names, fleet_->data.table));
    }
    const auto waits = [](const LobbyMember& m) { return m.data_problem == no_answer_yet; };
    while (std::ranges::any_of(here(), waits) && signals_.take() == StopSignals::Wish::none)
      ::poll(nullptr, 0, tick_ms);
    for (const LobbyMember& member : lobby_.members())
      if (const std::string& name = member.offer.name;
          signals_.code() == 0 && !member.data_problem.empty() &&
          std::ranges::count(seats, name, &LobbySeat::machine) > 0)
        throw std::runtime_error(fmt::format("lobby: {}'s data: {}", name, member.data_problem));
  }

  /// Starts the fleet on the machines that are here. Returns the exit code of `run`.
  int start(const FleetOptions& options) {
    const std::vector<LobbyMember> members = here();
    if (members.empty() && own_.empty())
      throw std::runtime_error("lobby: no machine has joined yet");
    const FlatKeys keys = fleet_keys(options.file, options.sets);
    const std::vector<LobbySeat> seats = lobby_seats(*fleet_, keys, members, !arguments_.not_here);
    for (const std::string& why : {seat_objection(*fleet_, members, seats), groups_objection(keys)})
      if (!why.empty()) throw std::invalid_argument("lobby: " + why);
    list(members);
    for (const LobbySeat& seat : seats)
      if (seat.peers == 0)
        say(fmt::format("{} has no peer: the fleet has {}", seat.machine, fleet_->peers.size()));
    prepare_data(seats);
    FleetOptions chosen = options;
    if (sends_data(chosen.file, chosen.sets)) chosen.sets.emplace_back("launch.data=push");
    std::vector<std::string> sets = chosen.sets;
    if (arguments_.no_measure) {
      const std::vector<std::string> more = seat_sets(seats);
      sets.insert(sets.end(), more.begin(), more.end());
    } else {
      const LobbyStart measured = measured_start(peer_program(), fleet_->path, chosen.sets, seats,
                                                 !fleet_->data.per_peer(), say);
      sets = measured.sets;
      say(measured.text);
      pause_to_read();
    }
    if (signals_.take(); signals_.code() != 0) return signals_.code();
    kept_.folder = fleet_->output_dir;  // `run` takes this name, too
    for (int k = 2; fs::exists(kept_.folder); ++k)
      kept_.folder = fmt::format("{}-{}", fleet_->output_dir, k);
    kept_.machines.clear();
    for (const LobbySeat& seat : seats)
      if (seat.peers > 0 && seat.machine != "localhost") kept_.machines.push_back(seat.machine);
    keep(kept_);
    sets.push_back("output.dir=" + kept_.folder);
    std::vector<std::string> argv{peer_program(), "run", fleet_->path};
    for (const std::string& set : sets) argv.insert(argv.end(), {"--set", set});
    return follow(std::move(argv));
  }

  /// Lets the user of a terminal read what the lobby predicts.
  void pause_to_read() {
    if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return;
    say("starts in 10 s; Enter starts at once, Ctrl-C ends the lobby");
    const auto end = Clock::now() + std::chrono::seconds(10);
    while (Clock::now() < end && signals_.take() == StopSignals::Wish::none && !lines_.take())
      ::poll(nullptr, 0, tick_ms);
  }

  int follow(std::vector<std::string> argv) {
    if (arguments_.file.json) argv.emplace_back("--json");
    page_.show_run(kept_.folder);
    std::string told = progress_text(kept_.folder);
    auto next = Clock::now();
    const int code = OnTerminal(std::move(argv)).wait(signals_, [&] {
      if (Clock::now() < next) return;
      const std::string line = progress_text(kept_.folder);
      next += line == told ? std::chrono::seconds(1) : std::chrono::seconds(10);
      if (line != told) lobby_.send("", Json{{"say", told = line}});
    });
    const std::string end = fmt::format(
        "the run has ended with exit code {}: {}; its model and records are in {} on {}", code,
        progress_text(kept_.folder), fs::absolute(kept_.folder).string(), host_name());
    lobby_.send("", Json{{"say", end}});
    if (code == exit_code::done) forget_run();
    return code;
  }

  /// Leaves no run for `lobby --resume`.
  void forget_run() {
    kept_ = {.code = kept_.code, .again = kept_.again, .port = kept_.port};
    keep(kept_);
  }

  /// Waits for the machines of the run that an earlier lobby started, and resumes it.
  int run_again() {
    say(fmt::format("       resumes {} when its machines are back, or at Enter", kept_.folder));
    const auto is_back = [this](const std::string& machine) {
      const auto all = here();
      return std::ranges::any_of(all, [&](const auto& m) { return m.offer.name == machine; });
    };
    bool may_start = false, waits = false;
    while (signals_.take() == StopSignals::Wish::none) {
      may_start = may_start || std::ranges::all_of(kept_.machines, is_back) || lines_.take();
      const bool runs = may_start && connect_live(kept_.folder).open();
      if (may_start && !runs) return follow({peer_program(), "run", "--resume", kept_.folder});
      if (runs && !std::exchange(waits, true))
        say("       waits for the launcher of the earlier lobby, which saves and ends");
      pollfd fd{signals_.fd(), POLLIN, 0};
      ::poll(&fd, 1, tick_ms);
    }
    return signals_.code();
  }

  LobbyArguments arguments_;
  StopSignals signals_;  ///< before the threads below, which inherit its mask
  KeptLobby kept_;
  std::string socket_;
  Lobby lobby_;
  LobbyResponder responder_;
  std::vector<LobbyMember> own_;  ///< this machine, if it trains
  LobbyPage page_;
  UserLines lines_;
  std::optional<Fleet> fleet_;
  std::optional<std::string> refused_with_;  ///< offers() at the last start that failed
};

int lobby(const LobbyArguments& given) {
  LobbyArguments arguments = given;
  if (arguments.resume && !arguments.file.file.empty())
    throw std::invalid_argument("lobby: --resume knows its fleet file: leave FLEET out");
  std::optional<Fleet> fleet;
  if (!arguments.file.file.empty()) {
    fleet = read_file(arguments.file);
    const FlatKeys keys = fleet_keys(arguments.file.file, arguments.file.sets);
    for (const std::string& why : {seat_objection(*fleet, {}), groups_objection(keys)})
      if (!why.empty()) throw std::invalid_argument("lobby: " + why);
    if (fleet->data.per_peer()) load_data(*fleet, arguments.not_here ? fleet->trainers() : 0);
  }
  return LobbyScreen(arguments, std::move(fleet)).run();
}

void lobby_options(Options& options, LobbyArguments& arguments) {
  add_fleet_options(options, arguments.file);
  options.value("--machines", arguments.machines,
                "Number of machines, this one included, with which FLEET starts (default: one per "
                "peer)");
  options.value("--port", arguments.port, "TCP port of the lobby (default: any free one)")
      .range(1, 65535);
  options.flag("--not-here", arguments.not_here, "Train on the other machines only");
  options.flag("--no-measure", arguments.no_measure, "Start without measuring speeds and links");
  options.flag("--resume", arguments.resume,
               "Open your last lobby again, with its code, and resume its run");
}

}  // namespace

Command lobby_command() {
  return command("lobby",
                 "Gather machines of this network by a code, and train on them without ssh",
                 "  grapevine lobby fleet.yaml\n"
                 "  grapevine lobby fleet.yaml --machines 3 --set stop.rounds=500\n"
                 "  grapevine lobby\n"
                 "  grapevine lobby --resume",
                 lobby_options, lobby);
}

}  // namespace gv::cli
