#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/this_program.h"
#include "peer/cli/written_file.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/launcher/peer_speeds.h"

namespace gv::cli {
namespace {

struct BundleOptions {
  std::string file;
  bool json = false;
};

int write_bundle(const BundleOptions& options) {
  const Bundle bundle = bundle_of(this_program());
  const std::string usual_name = file_of_bundle(own_processor);
  const std::string file = options.file.empty() ? usual_name : options.file;
  write_file(file, bundle.read());
  if (options.json) {
    console::print({{"file", file},
                    {"processor", bundle.processor},
                    {"name", bundle.name},
                    {"bytes", bundle.bytes}});
    return exit_code::done;
  }
  fmt::print("{}  {:.1f} MB, for {}\n", file, static_cast<double>(bundle.bytes) / 1e6,
             own_processor);
  fmt::print(stderr,
             "On a machine of another kind that starts fleets, put it as {} into\n"
             "~/.local/share/grapevine, or beside the program: `run` then takes it along to\n"
             "{} hosts.\n",
             usual_name, own_processor);
  return exit_code::done;
}

void bundle_options(Options& options, BundleOptions& arguments) {
  options
      .value("-o,--output", arguments.file,
             fmt::format("File to write (default: {})", file_of_bundle("PROCESSOR")))
      .call_values("FILE");
  options.flag("--json", arguments.json, "Print a JSON object");
}

}  // namespace

Command bundle_command() {
  return command("bundle", "Pack this program for a launcher with another kind of processor",
                 "  on the Raspberry Pi, for the desktop that starts the fleets:\n"
                 "  grapevine bundle\n"
                 "  scp grapevine-aarch64.tar.gz desktop:.local/share/grapevine/",
                 bundle_options, write_bundle);
}

}  // namespace gv::cli
