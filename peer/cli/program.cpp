#include "peer/cli/program.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/version.h"
#include "peer/fleet/file/source.h"
#include "peer/launch/process.h"
#include "peer/record/report/console.h"
#include "peer/runtime/exit_code.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv::cli {
namespace {

int report_error(const std::exception& e, int code) {
  fmt::print(stderr, "error: {}\n", e.what());
  return code;
}

/// Runs the command that the arguments name. Nothing is thrown.
int run_named_command(const Command& program, int argc, char** argv) {
  try {
    return run_command_line(program, version_text(), argc, argv);
  } catch (const FleetError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return exit_code::usage;
  } catch (const std::invalid_argument& e) {
    return report_error(e, exit_code::usage);
  } catch (const ComputeError& e) {
    return report_error(e, exit_code::failed);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again)
      return report_error(e, exit_code::could_not_start);
    fmt::print(stderr,
               "error: this machine gives no more threads or processes\n"
               "help:  raise `ulimit -u` or `ulimit -v`, or take fewer peers or threads\n");
    return exit_code::could_not_start;
  } catch (const std::runtime_error& e) {
    return report_error(e, exit_code::could_not_start);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "error: that takes more memory than this machine gives\n"
               "help:  fewer peers, a graph with fewer edges, or a smaller model\n");
    return exit_code::could_not_start;
  } catch (const std::exception& e) {
    return report_error(e, exit_code::internal);
  }
}

}  // namespace

Command whole_program(const PeerParts& parts) {
  return {.name = "grapevine",
          .summary =
              "Grapevine: decentralized gossip learning. Every peer trains its own replica and "
              "averages with its neighbours over TCP; no server, no coordinator.",
          .examples =
              "  grapevine tour\n"
              "  grapevine run configs/fashion-ring8.yaml\n"
              "  grapevine simulate configs/digits-torus16.yaml\n"
              "  grapevine graph report --topology ring --topology torus:4x4 --peers 16",
          .prepare = {},
          .commands = commands(parts)};
}

int run_program(int argc, char** argv, const PeerParts& parts) {
  reset_inherited();
  // A pipe that nobody reads, and a file that is too large for a limit (ulimit -f), are told by
  // write, as a full disk is. The processes that we start inherit the second.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  console::open();
  const int code = run_named_command(whole_program(parts), argc, argv);
  const std::string unwritten = console::close();
  if (unwritten.empty()) return code;
  fmt::print(stderr, "error: the standard output could not be written: {}\n", unwritten);
  return code == exit_code::done || code == exit_code::check_failed ? exit_code::not_kept : code;
}

}  // namespace gv::cli
