#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/deploy/deploy.h"

namespace gv::cli {
namespace {

struct DeployArguments {
  FleetOptions file;
  std::string image, name, kind = "job", version = "1.29", space;
  std::string cpu, memory, claim, storage;
  std::vector<std::string> mounts;
  std::uint32_t gpus = 0;
  std::uint32_t port = 27000;
  double wait_seconds = 600;
  bool systemd = false;
  std::string program = "/usr/bin/grapevine", user = "grapevine", folder;
};

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("deploy: " + what);
}

/// Parses "1.31".
int minor_of(const std::string& version) {
  int minor = 0;
  if (version.starts_with("1.")) minor = as_number<int>(version.substr(2)).value_or(0);
  constexpr int oldest = 25;
  constexpr int most = 999;
  if (minor >= oldest && minor <= most) return minor;
  refuse(fmt::format("--kubernetes {}: expected the cluster's version, 1.25 or newer, such as 1.31",
                     printable(version, 20)));
}

std::pair<std::string, std::string> mount_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string claim = text.substr(0, colon);
  const std::string path = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!is_claim_name(claim) || !path.starts_with('/') || !is_printable(path) ||
      path.find(':') != std::string::npos)
    refuse(fmt::format("--mount {}: expected CLAIM:/PATH", printable(text, 100)));
  return {claim, path};
}

void check_words(const DeployArguments& arguments) {
  if (arguments.image.empty())
    refuse(
        "which image? --image REGISTRY/grapevine:TAG (docs/how-to/engines.md builds one)\n"
        "help:  --systemd writes units for machines without containers");
  if (!is_image(arguments.image))
    refuse(fmt::format("--image {}: not the name of an image", printable(arguments.image, 100)));
  if (!arguments.name.empty() && !is_object_name(arguments.name))
    refuse(fmt::format(
        "--name {}: expected small letters, digits and `-`, a letter first, at most "
        "{} of them\nhelp:  --name {}",
        printable(arguments.name, 100), longest_object_name, object_name(arguments.name)));
  if (!arguments.space.empty() && !is_claim_name(arguments.space))
    refuse(fmt::format("--namespace {}: not the name of one", printable(arguments.space, 100)));
  if (!arguments.claim.empty() && !is_claim_name(arguments.claim))
    refuse(fmt::format("--claim {}: not the name of one", printable(arguments.claim, 100)));
  for (const auto& [option, text] : {std::pair{"--cpu", arguments.cpu},
                                     {"--memory", arguments.memory},
                                     {"--storage", arguments.storage}})
    if (!text.empty() && !is_quantity(text))
      refuse(fmt::format("{} {}: expected a quantity such as 2, 500m or 4Gi", option,
                         printable(text, 40)));
  if (!arguments.storage.empty() && arguments.kind != "statefulset")
    refuse("--storage is of a StatefulSet's pods; a job writes to --claim");
}

KubernetesKind kind_of(const std::string& word) {
  if (word == "statefulset") return KubernetesKind::statefulset;
  return word == "jobset" ? KubernetesKind::jobset : KubernetesKind::job;
}

/// Returns the time until SIGKILL, enough for a peer to finish its round and to save.
int grace_seconds(const Fleet& fleet) {
  constexpr std::int64_t least = 30;
  const auto grace = std::chrono::ceil<std::chrono::seconds>(2 * fleet.grace).count();
  return static_cast<int>(std::clamp<std::int64_t>(grace, least, 86400));
}

KubernetesFleet kubernetes_fleet(const DeployArguments& arguments, const Fleet& fleet) {
  KubernetesFleet pods{.name = arguments.name.empty() ? object_name(fleet.name) : arguments.name,
                       .image = arguments.image,
                       .kind = kind_of(arguments.kind),
                       .minor = minor_of(arguments.version),
                       .peers = fleet.size(),
                       .port = static_cast<std::uint16_t>(arguments.port),
                       .files = copied_files(arguments.file.file, arguments.file.sets)};
  pods.arguments = copied_sets(arguments.file.file, arguments.file.sets);
  const auto add = [&](const char* option, const std::string& value) {
    pods.arguments.insert(pods.arguments.end(), {option, value});
  };
  add("--set", "output.dir=" + kubernetes_output(pods));
  pods.keys = fleet.security.mode != SecurityMode::plaintext && fleet.size() > 1;
  if (pods.keys) add("--keys", "/keys");
  add("--wait", fmt::format("{:g}", arguments.wait_seconds));
  int threads = 1;
  for (const PeerSpec& peer : fleet.peers) threads = std::max(threads, peer.threads);
  pods.cpu = arguments.cpu.empty() ? std::to_string(threads) : arguments.cpu;
  pods.memory = arguments.memory;
  pods.space = arguments.space;
  pods.gpus = arguments.gpus;
  pods.claim = arguments.claim;
  pods.storage = arguments.storage;
  for (const std::string& text : arguments.mounts) pods.mounts.push_back(mount_of(text));
  pods.grace_seconds = grace_seconds(fleet);
  return pods;
}

/// Prints on stderr the steps that the manifests alone do not do.
void advise(const DeployArguments& arguments, const Fleet& fleet, const KubernetesFleet& pods) {
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const std::string space = pods.space.empty() ? "" : "-n " + pods.space + " ";
  if (pods.keys)
    say(
        fmt::format("keys   once, before the first start:\n"
                    "         grapevine keygen {} -o {}\n"
                    "         kubectl {}create secret generic {} --from-file={}",
                    shell_path(arguments.file.file), pods.name + "-keys", space,
                    kubernetes_secret(pods), pods.name + "-keys"));
  else if (fleet.size() > 1)
    say(std::string(plaintext_note));
  if (pods.claim.empty() && pods.storage.empty())
    say("note   the models end with their pods: --claim CLAIM keeps them (of a StatefulSet\n"
        "       --storage 2Gi, or fetch them with kubectl cp while its pods stay)");
  for (const std::string& path : data_paths(arguments.file.file, arguments.file.sets))
    say(fmt::format("note   {} must be in the image, or on a claim: --mount CLAIM:{}",
                    printable(path, 200),
                    printable(std::filesystem::path(path).parent_path().string(), 200)));
  const bool hosts = std::ranges::any_of(
      fleet.peers, [](const PeerSpec& peer) { return peer.host != "localhost"; });
  if (hosts) say("note   `hosts` has no effect here: the cluster places the pods");
}

int write_manifests(const DeployArguments& arguments, const Fleet& fleet) {
  check_words(arguments);
  const KubernetesFleet pods = kubernetes_fleet(arguments, fleet);
  for (const std::string& word : pods.arguments)
    if (!is_printable(word)) refuse(printable(word, 100) + ": not printable UTF-8");
  const std::string text = kubernetes_manifests(pods);
  fmt::print("# Fleet {} of {} peers; kubectl apply -f THIS\n{}", pods.name, pods.peers, text);
  advise(arguments, fleet, pods);
  return exit_code::done;
}

/// Writes the units for all hosts, or in one folder per host.
int write_units(const DeployArguments& arguments, const Fleet& fleet) {
  if (!arguments.image.empty()) refuse("--systemd starts no containers: leave --image out");
  if (!is_unit_path(arguments.program))
    refuse(fmt::format("--program {}: expected an absolute path of letters, digits and . _ - /",
                       printable(arguments.program, 100)));
  if (!is_user_name(arguments.user))
    refuse(fmt::format("--user {}: not the name of one", printable(arguments.user, 100)));
  const SystemdFleet units{.name = object_name(fleet.name),
                           .program = arguments.program,
                           .user = arguments.user,
                           .arguments = copied_sets(arguments.file.file, arguments.file.sets),
                           .files = copied_files(arguments.file.file, arguments.file.sets),
                           .wait_seconds = arguments.wait_seconds};
  for (const std::string& word : units.arguments)
    if (!is_printable(word)) refuse(printable(word, 100) + ": not printable UTF-8");
  const std::vector<SystemdFile> files = systemd_files(fleet, units);
  for (const SystemdFile& file : files) {
    if (arguments.folder.empty()) {
      if (file.unit) fmt::print("# host {}: {}\n{}\n", file.host, file.path, file.text);
      continue;
    }
    const std::filesystem::path path = arguments.folder + "/" + file.host + file.path;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), file.text);
  }
  fmt::print(stderr, "{}", systemd_advice(fleet, units, arguments.folder));
  return exit_code::done;
}

int deploy(DeployArguments arguments) {
  const Fleet fleet = read_file(arguments.file);
  return arguments.systemd ? write_units(arguments, fleet) : write_manifests(arguments, fleet);
}

void kubernetes_options(Options& options, DeployArguments& arguments) {
  options.value("--image", arguments.image, "Container image with the program in its PATH")
      .call_values("IMAGE");
  options.value("--kind", arguments.kind, "Kubernetes workload that runs the pods")
      .one_of({"job", "statefulset", "jobset"})
      .show_default();
  options.value("--kubernetes", arguments.version, "Version of the cluster, 1.25 or later")
      .call_values("VERSION")
      .show_default();
  options
      .value("--name", arguments.name, "Name of the objects (default: made from the fleet's name)")
      .call_values("NAME");
  options.value("--namespace", arguments.space, "Namespace of the objects").call_values("NAME");
  options.value("--port", arguments.port, "Port that each pod listens on").range(1024, 65535);
  options.value("--cpu", arguments.cpu, "Processors of each pod (default: the peers' threads)")
      .call_values("QUANTITY");
  options.value("--memory", arguments.memory, "Memory request and limit of each pod")
      .call_values("QUANTITY");
  options.value("--gpus", arguments.gpus, "Number of NVIDIA GPUs of each pod");
  options.value("--claim", arguments.claim, "Volume claim for the results of all peers")
      .call_values("CLAIM");
  options
      .value("--storage", arguments.storage,
             "With --kind statefulset: size of the volume of each pod")
      .call_values("QUANTITY");
  options
      .value("--mount", arguments.mounts,
             "Volume claim with data, and the path at which pods read it (repeatable)")
      .call_values("CLAIM:/PATH");
}

void deploy_options(Options& options, DeployArguments& arguments) {
  options.value("FILE", arguments.file.file, "Fleet file (YAML)").required();
  options
      .value("--set", arguments.file.sets,
             "Override a value: --set train.optimizer.lr=0.05 (repeatable)")
      .call_values("KEY.PATH=VALUE");
  kubernetes_options(options, arguments);
  options.value("--wait", arguments.wait_seconds, "Seconds that each peer waits for the others")
      .range(0.1, 1e6)
      .show_default();
  options.flag("--systemd", arguments.systemd, "Write systemd units instead, one per peer");
  options
      .value("-o,--output", arguments.folder,
             "With --systemd: folder to write to, with a folder of files per host")
      .call_values("FOLDER");
  options.value("--program", arguments.program, "With --systemd: path of the program on the hosts")
      .show_default();
  options.value("--user", arguments.user, "With --systemd: user that the peers run as")
      .show_default();
}

}  // namespace

Command deploy_command() {
  return command("deploy", "Write Kubernetes manifests or systemd units that start a fleet",
                 "  grapevine deploy fleet.yaml --image grapevine:0.3 > fleet-k8s.yaml\n"
                 "  kubectl apply -f fleet-k8s.yaml\n"
                 "  grapevine deploy fleet.yaml --image I --kind statefulset --storage 2Gi\n"
                 "  grapevine deploy lan.yaml --systemd -o units    # of the hosts in the file",
                 deploy_options, deploy);
}

}  // namespace gv::cli
