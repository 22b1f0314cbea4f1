#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "peer/runtime/assembly.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {

/// What a command leaves behind.
struct Outcome {
  int code = exit_code::done;
};

/// Options of every command that reads a fleet file.
struct FleetOptions {
  std::string file;
  std::vector<std::string> sets;
  bool json = false;
};

/// Adds FILE, --set and --json; `examples` end the help text.
void add_fleet_options(CLI::App& command, FleetOptions& options);
/// The fleet of a run that is to go on, as its folder tells; fills in `options`. Throws
/// std::invalid_argument when the fleet file is another one now.
Assembly assemble_again(const std::string& run_folder, FleetOptions& options);

void add_examples(CLI::App& command, const std::string& examples);

/// Reads the fleet file and makes it ready; notices go to stderr.
Assembly assemble(const FleetOptions& options);
/// Before these peers are started: see check_devices. Notices go to stderr.
void tell_devices(const Assembly& fleet, const std::vector<PeerId>& peers);
/// On stderr, when the fleet is known to diverge at its learning rate.
void warn_of_rate(const Assembly& fleet);

void add_run(CLI::App& app, Outcome& outcome);
void add_simulate(CLI::App& app, Outcome& outcome);
/// `simulate --faults swarm`: many fault seeds instead of one undisturbed run.
struct SwarmArguments {
  std::string faults;  ///< "swarm"; empty: none
  std::string seeds = "1..100";
  std::optional<std::uint64_t> seed;
  std::uint64_t until_ms = 500;
  int jobs = 0;
};
void add_swarm_options(CLI::App& command, SwarmArguments& arguments);
int run_swarm(const FleetOptions& file, const SwarmArguments& arguments);

void add_plan(CLI::App& app, Outcome& outcome);
void add_peer(CLI::App& app, Outcome& outcome);
void add_graph(CLI::App& app, Outcome& outcome);
// Subcommands of `graph`.
void add_graph_export(CLI::App& graph);
void add_graph_best(CLI::App& graph);
void add_graph_schedule(CLI::App& graph);
void add_graph_report(CLI::App& graph);
void add_graph_predict(CLI::App& graph);
void add_audit(CLI::App& app, Outcome& outcome);
void add_bench(CLI::App& app, Outcome& outcome);
/// Subcommand of `bench`.
void add_bench_step(CLI::App& bench);
void add_bench_device(CLI::App& bench);
void add_doctor(CLI::App& app, Outcome& outcome);

}  // namespace gv::cli
