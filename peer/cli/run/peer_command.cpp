#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/run/start_checks.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/net_address.h"
#include "peer/fleet/read/sections.h"
#include "peer/launch/agent/agent.h"
#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/agent/transport/batch_nodes.h"
#include "peer/launch/launcher/peer_reports.h"
#include "peer/launch/launcher/peer_speeds.h"
#include "peer/launch/manual/address_pattern.h"
#include "peer/launch/manual/identity.h"
#include "peer/launch/manual/peer_process.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/launch/program/own_program.h"
#include "peer/launch/program/start_file.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/save_model.h"
#include "peer/study/predict/forecast/advice.h"
#include "peer/wire/socket/named_socket.h"

namespace gv::cli {
namespace {

/// State of a peer that an engine may start again, in the file `life` of its folder: "running" from
/// the first start on, and "done" when the peer has finished.
class LifeMark {
 public:
  explicit LifeMark(const std::string& peer_folder) : path_(peer_folder + "/life") {}

  bool began() const;     ///< began and has not finished
  bool finished() const;  ///< its model exists and must not be overwritten
  /// Throws std::runtime_error with the path, as finish() does.
  void begin() const;
  void finish() const;

 private:
  std::string text() const;
  void write(const std::string& text) const;

  std::string path_;
};

constexpr std::string_view running = "running";
constexpr std::string_view done = "done";

std::string LifeMark::text() const {
  std::string word;
  std::ifstream(path_) >> word;
  return word;
}

bool LifeMark::began() const {
  return text() == running;
}

bool LifeMark::finished() const {
  return text() == done;
}

void LifeMark::begin() const {
  write(std::string(running) + "\n");
}

void LifeMark::finish() const {
  write(std::string(done) + "\n");
}

void LifeMark::write(const std::string& text) const {
  const Verdict wrong = PosixDisk().write(path_, std::as_bytes(std::span(text)));
  if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", path_, wrong));
}

struct PeerOptions {
  FleetOptions file;
  std::optional<std::uint64_t> id;
  std::string meet;
  std::string at;
  std::string keys;
  bool after_restart = false;
  bool stay = false;
  double wait_seconds = 120;
  std::string launched;
  std::string listen;
  double measure_seconds = 0;
  std::string task = "peer";  ///< task in a fleet of programs (own_program.h)
  std::string start;          ///< file with x_0, from the fleet file's folder
  std::string where;          ///< "here": on the launcher's machine, whatever its host
  PeerPast past;
  double clock_seconds = 0;
  PeerParts parts;
};

Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// Returns a record of this peer alone, which knows no other model. The time is that of its
/// training, without the wait for the others.
FleetRecord alone(const Assembly& fleet, const Report& report) {
  FleetRecord record;
  record.round = report.round;
  record.peers = record.told = 1;
  record.time = report.costs.spent.total();
  record.mean = report.evaluation;
  record.train_loss = report.train_loss;
  record.loss_local = report.evaluation.loss;
  record.consensus = std::numeric_limits<double>::quiet_NaN();
  record.costs.sent_bytes = report.costs.sent_bytes;
  if (const auto frames = fleet.aims().frames)
    record.frames = frames(report.peer, report.costs.samples);
  return record;
}

/// Saves the model; a server's part is no model.
void save_report(const Assembly& fleet, const Report& report) {
  if (report.model->floats().size() != fleet.dimension) return;
  const std::string folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, report.peer);
  std::filesystem::create_directories(folder);
  save_model(folder + "/model.safetensors", fleet, report.model->floats(),
             {.rounds = report.round, .version = version_text(), .peer = report.peer});
  fmt::print(stderr, "saved {}/model.safetensors; of all peers: grapevine collect {}\n", folder,
             shell_path(fleet.fleet.output_dir));
}

/// Refuses to overwrite a finished run: only `run` and `simulate` write a summary.
void refuse_finished(const Fleet& fleet) {
  if (!std::filesystem::exists(fleet.output_dir + "/summary.json")) return;
  throw std::invalid_argument(
      fmt::format("{0} is the folder of a run that has ended; this peer would write over its models"
                  "\nhelp:  --set output.dir={0}-by-hand",
                  fleet.output_dir));
}

/// Returns the Slurm step that has the peers' addresses; nothing if the file, --at or --meet does.
std::optional<SlurmStep> step_to_ask(const Fleet& fleet, PeerId id, const PeerOptions& options) {
  const bool by_file = std::ranges::any_of(
      fleet.peers, [](const PeerSpec& peer) { return peer.host != "localhost"; });
  if (options.id || by_file || !options.at.empty() || !options.meet.empty()) return {};
  const std::optional<SlurmStep> step = slurm_step();
  return step && step->task == id ? step : std::nullopt;
}

int run_by_hand(const Assembly& fleet, PeerId id, const PeerOptions& options) {
  refuse_finished(fleet.fleet);
  console::never_wait();
  if (!options.file.json)
    fmt::print("{}\n", table_header(fleet.looked_at().get(), fleet.validation != nullptr,
                                    fleet.fleet.agent.has_value()));
  bool finite = true;
  const std::string folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, id);
  std::filesystem::create_directories(folder);
  PeerReports reports(folder,
                      {.digest = fleet.fleet.digest,
                       .peer = id,
                       .peers = fleet.fleet.size(),
                       .file = std::filesystem::absolute(options.file.file).string(),
                       .sets = options.file.sets},
                      options.past.rejoin || options.past.from);
  ManualPeerScreen screen;
  screen.log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  screen.on_report = [&](const Report& report) {
    const FleetRecord record = alone(fleet, report);
    fmt::print("{}\n", options.file.json ? evaluate_line(record)
                                         : table_row(record, fleet.looked_at().get()));
    std::fflush(stdout);
    reports.keep(report);
    if (!report.last) return;
    finite = std::isfinite(report.evaluation.loss);
    save_report(fleet, report);
  };
  ManualPeer manual{.connect_deadline = time_of(options.wait_seconds)};
  manual.keys = own_keys(fleet.fleet, id, options.keys);
  if (const std::optional<SlurmStep> step = step_to_ask(fleet.fleet, id, options)) {
    const std::vector<std::string> nodes = batch_nodes(*find_batch_system("slurm"), step->nodes);
    manual.addresses = step_addresses(*step, nodes, fleet.fleet.size());
    manual.listen_address = any_address;
  }
  if (!options.at.empty()) {
    const AddressPattern pattern = parse_address_pattern(options.at);
    manual.addresses = pattern.addresses(fleet.fleet.size());
    manual.listen_address = pattern.listen_host();
  }
  std::optional<Rendezvous> meeting;
  if (!options.meet.empty()) {
    meeting.emplace(fleet, id, options.meet);
    manual.meet = [&](std::uint16_t port) {
      meeting->announce(port);
      return meeting->wait(manual.connect_deadline, screen.log);
    };
    manual.moved = [&] { return meeting->changed(); };
  }
  const int code = run_manual_peer(fleet, id, manual, options.past, options.parts, screen);
  if (finite || code != exit_code::done) return code;
  fmt::print(stderr, "{}\n", loss_not_finite(fleet));
  return exit_code::failed;
}

/// Waits for the stop signal of engines that restart every process that ends.
void stay_until_told(const std::string& folder) {
  fmt::print(stderr, "done; stays until SIGTERM, so that {} can be fetched\n", folder);
  const sigset_t ends = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  int signal = 0;
  ::sigwait(&ends, &signal);
}

/// Runs a peer that an engine may start several times: it joins peers that are training, and never
/// repeats a finished training.
int run_engine_peer(const Assembly& fleet, PeerId id, PeerOptions options) {
  const std::string folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, id);
  std::filesystem::create_directories(folder);
  const LifeMark life(folder);
  int code = exit_code::done;
  if (life.finished()) {
    fmt::print(
        stderr,
        "peer {} has finished before: its model is in {}; to train again, remove that file\n", id,
        folder);
  } else {
    options.past.rejoin = options.past.rejoin || life.began() || restarted_by_engine();
    if (options.past.rejoin) fmt::print(stderr, "peer {} was started before: it rejoins\n", id);
    life.begin();
    code = run_by_hand(fleet, id, options);
    if (code == exit_code::done) life.finish();
  }
  if (options.stay && code == exit_code::done) stay_until_told(folder);
  return code;
}

/// Returns the peer's address "[::]:27000" from a launcher; else one within this machine.
LaunchedPeer launched_peer(const PeerOptions& options) {
  LaunchedPeer launched{.folder = options.launched, .address = loopback_host()};
  if (options.listen.empty()) return launched;
  const HostPort at = parse_host_port(options.listen);
  launched.address = at.host;
  launched.port = at.port;
  return launched;
}

/// Returns the given id, or that of the engine that has started this process.
PeerId own_id(const PeerOptions& options) {
  if (options.id) return static_cast<PeerId>(*options.id);
  const std::optional<EngineIdentity> engine = engine_identity();
  if (!engine)
    throw std::invalid_argument(
        "peer: which one? give --id N (srun, mpirun and indexed jobs of Kubernetes set it "
        "themselves)");
  fmt::print(stderr, "this is peer {}, according to {}\n", engine->id, engine->variable);
  return engine->id;
}

void check_peer_arguments(const PeerOptions& options) {
  if (!options.at.empty() && !options.meet.empty())
    throw std::invalid_argument(
        "peer: --at and --meet both give the peers' addresses: give only one");
  if (options.stay && !options.after_restart)
    throw std::invalid_argument("peer: --stay needs --rejoin-after-restart");
}

void check_id(PeerId id, const Fleet& fleet) {
  if (id < fleet.size()) return;
  throw std::invalid_argument(
      fmt::format("--id {}: {} has peers 0 .. {}", id, fleet.path, fleet.size() - 1));
}

/// Returns the file with x_0; "" if x_0 is in the program's own tensors.
std::string start_of(const Fleet& fleet, const PeerOptions& options) {
  if (options.start.empty()) return fleet.start;
  return (std::filesystem::path(fleet.path).parent_path() / options.start).string();
}

/// Becomes the program, as a peer that trains; servers hold parts of its model instead.
[[noreturn]] void run_program_peer(const Fleet& fleet, PeerId id, const PeerOptions& options) {
  const bool launched = !options.launched.empty();
  OwnProgram own{
      .task = options.task,
      .file = options.file.file,
      .sets = options.file.sets,
      .id = id,
      .here = options.where == "here",
      .launched = launched,
      .folder = launched ? options.launched : fmt::format("{}/peers/{:03}", fleet.output_dir, id),
      .listen = options.listen,
      .meet = options.meet,
      .at = options.at,
      .keys = options.keys,
      .start = start_of(fleet, options),
      .rejoin = options.past.rejoin,
      .from = options.past.from,
      .clock = options.clock_seconds};
  if (launched && own.listen.empty()) own.listen = host_port_text(loopback_host(), 0);
  if (!launched) own.wait = options.wait_seconds;
  if (options.task != "peer") own.folder.clear();
  if (!own.folder.empty()) std::filesystem::create_directories(own.folder);
  become_program(fleet, own);
}

/// Reads the model of which a server holds a part; nothing in a fleet without programs.
std::optional<ProgramModel> model_of_server(const Fleet& fleet, const PeerOptions& options) {
  if (!fleet.program) return std::nullopt;
  const std::string path = start_of(fleet, options);
  if (path.empty())
    throw std::invalid_argument(about_program(
        fleet, "this peer serves a part of the program's model, and nothing says what that is",
        "`grapevine run` asks the program; by hand give `model: { start: FILE }`, with the "
        "start.safetensors of a run"));
  return read_start(path);
}

int run_peer(PeerOptions options) {
  check_peer_arguments(options);
  options.past.clock = time_of(options.clock_seconds);
  const PeerId id = own_id(options);
  const bool launched = !options.launched.empty();
  if (std::getenv(no_code_variable) != nullptr) options.file.untrusted = Untrusted{};
  Fleet file = read_file(options.file, id, launched);
  check_id(id, file);
  if (file.program && id < file.trainers()) run_program_peer(file, id, options);
  std::optional<ProgramModel> model = model_of_server(file, options);
  const Assembly fleet(std::move(file), id, std::move(model));
  if (options.measure_seconds > 0) return run_measured_peer(fleet, id, options.measure_seconds);
  check_peer_fits(fleet, id);
  if (!options.launched.empty())
    return run_launched_peer(fleet, id, launched_peer(options), options.past, options.parts);
  tell_devices(fleet, {id});
  if (options.after_restart) return run_engine_peer(fleet, id, options);
  return run_by_hand(fleet, id, options);
}

void peer_options(Options& options, PeerOptions& arguments) {
  arguments.parts = options.parts();
  add_fleet_options(options, arguments.file).required();
  options.value("--id", arguments.id,
                "Number of this peer, 0 .. n - 1; set automatically by srun and mpirun");
  options
      .value("--meet", arguments.meet,
             "Folder that all peers share, through which they find each other; hosts then need no "
             "address")
      .call_values("FOLDER");
  options
      .value("--at", arguments.at,
             "Address of each peer, instead of `hosts`, with {id} for the peer's number: "
             "node{id}:27000 or [fd00::{id}]:27000. Without {id} all peers are on that machine, at "
             "that port and the following ones")
      .call_values("HOST:PORT");
  options
      .value("--keys", arguments.keys,
             "Folder with this peer's key, peer-N.pem (default: security.keys of the file)")
      .call_values("FOLDER");
  options.value("--wait", arguments.wait_seconds, "Seconds to wait for the neighbours to appear")
      .range(0.1, 1e6)
      .show_default();
  options.flag("--rejoin", arguments.past.rejoin,
               "Resume from this peer's newest checkpoint, or else from a neighbour's model, "
               "without waiting for missing neighbours");
  options.flag("--rejoin-after-restart", arguments.after_restart,
               "Act like --rejoin if its folder or the engine shows that this peer was started "
               "before; a peer that has finished does not train again");
  options.flag("--stay", arguments.stay,
               "With --rejoin-after-restart: keep the process after the end, until SIGTERM");
  options.value("--from", arguments.past.from,
                "Round whose checkpoint of this peer to resume from");
  options.value("--launched", arguments.launched, "").hide();
  options.value("--listen", arguments.listen, "").hide();
  options.value("--task", arguments.task, "").hide();
  options.value("--where", arguments.where, "").one_of({"", "here"}).hide();
  options.value("--start", arguments.start, "").hide();
  options.value("--measure", arguments.measure_seconds, "").range(0.0, 600.0).hide();
  options.value("--clock", arguments.clock_seconds, "").range(0.0, 1e9).hide();
}

}  // namespace

Command peer_command() {
  return command("peer",
                 "Run one peer of a fleet file in the foreground: on another machine, or by hand",
                 "  on each machine, with the same file and its addresses under `hosts`:\n"
                 "  grapevine peer lan.yaml --id 0\n"
                 "  after a restart of its machine, while the others continue to train:\n"
                 "  grapevine peer lan.yaml --id 0 --rejoin\n"
                 "  under an engine that numbers the peers; Slurm also gives their addresses:\n"
                 "  srun --ntasks 8 grapevine peer fleet.yaml\n"
                 "  mpirun -np 8 grapevine peer fleet.yaml --meet /shared/meeting",
                 peer_options, run_peer);
}

}  // namespace gv::cli
