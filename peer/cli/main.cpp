#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/version.h"
#include "peer/fleet/value.h"
#include "peer/tcp/tcp_world.h"

namespace {

int report_error(const std::exception& e, int code) {
  fmt::print(stderr, "error: {}\n", e.what());
  return code;
}

/// CLI11 has no suggestions of its own: "A subcommand is required" would be all for `rum`.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::ranges::count(known, argv[1]) > 0) return;
  const std::string guess = gv::nearest(argv[1], known);
  throw std::invalid_argument(fmt::format("unknown command `{}`\nhelp:  {}",
                                          argv[1],
                                          guess.empty()
                                              ? "grapevine --help lists the commands"
                                              : fmt::format("did you mean `{}`?", guess)));
}

int run(int argc, char** argv) {
  using namespace gv;
  CLI::App app{
      "Grapevine: decentralized gossip learning. Every peer trains its own replica and averages "
      "with its "
      "neighbours over TCP; no server, no coordinator."};
  app.name("grapevine");
  app.set_version_flag("--version", cli::version_text());
  app.require_subcommand(1);
  app.failure_message(cli::failure_message);
  cli::Outcome outcome;
  cli::add_run(app, outcome);
  cli::add_simulate(app, outcome);
  cli::add_plan(app, outcome);
  cli::add_peer(app, outcome);
  cli::add_graph(app, outcome);
  cli::add_audit(app, outcome);
  cli::add_bench(app, outcome);
  cli::add_doctor(app, outcome);
  cli::add_examples(app,
                    "  grapevine run configs/fashion-ring8.yaml\n"
                    "  grapevine simulate configs/digits-torus16.yaml\n"
                    "  grapevine graph report --topology ring --topology torus:4x4 --peers 16");
  refuse_unknown_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_code::done : exit_code::usage;
  }
  return outcome.code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const gv::FleetError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return gv::exit_code::usage;
  } catch (const std::invalid_argument& e) {
    return report_error(e, gv::exit_code::usage);
  } catch (const gv::ComputeError& e) {
    return report_error(e, gv::exit_code::failed);
  } catch (const std::runtime_error& e) {
    return report_error(e, gv::exit_code::could_not_start);
  } catch (const std::exception& e) {
    return report_error(e, gv::exit_code::internal);
  }
}
