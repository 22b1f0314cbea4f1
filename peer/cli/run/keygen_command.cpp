#include <filesystem>

#include <fmt/format.h>

#include "peer/cli/fleet_options.h"
#include "peer/wire/seal/tls_context.h"

namespace gv::cli {
namespace {

struct KeygenOptions {
  FleetOptions file;
  std::string folder;
};

int make_key_files(const KeygenOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  const std::string folder = options.folder.empty() ? fleet.security.keys : options.folder;
  keep_memory_to_ourselves();
  const std::vector<std::string> paths = write_key_files(folder, make_keys(fleet.size()));
  Json files = Json::array();
  for (PeerId i = 0; i < fleet.size(); ++i) {
    const std::string& host = fleet.peers[i].host;
    if (options.file.json)
      files.push_back(Json{{"peer", i}, {"host", host}, {"file", paths[i]}});
    else
      fmt::print("{}  for host {}\n", paths[i], host);
  }
  if (options.file.json) console::print({{"files", files}});
  fmt::print(stderr,
             "Each is a secret: give each machine those of its peers, into the folder of\n"
             "security.keys there ({}), with mode 600, and delete them here. Nothing can\n"
             "sign another one for this fleet; if one is lost, make new ones for all.\n",
             std::filesystem::path(fleet.security.keys).filename().string());
  return exit_code::done;
}

void keygen_options(Options& options, KeygenOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options
      .value("-o,--output", arguments.folder,
             "Folder to write to (default: security.keys of the file)")
      .call_values("FOLDER");
}

}  // namespace

Command keygen_command() {
  return command("keygen",
                 "Create keys by which peers that are started by hand authenticate each other",
                 "  once per fleet, on any machine; not needed for `run`, which makes its own:\n"
                 "  grapevine keygen lan.yaml\n"
                 "  scp -p keys/peer-0.pem anna:fleet/keys/\n"
                 "  and there: grapevine peer lan.yaml --id 0",
                 keygen_options, make_key_files);
}

}  // namespace gv::cli
