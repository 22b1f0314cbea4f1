#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <Eigen/Core>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gpu/cuda_replica.h"
#include "optim/printable.h"
#include "optim/workers.h"
#include "peer/cli/asked_fleet.h"
#include "peer/cli/command.h"
#include "peer/cli/doctor_hosts.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/cli/version.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/lan_check.h"
#include "peer/record/report/console.h"
#include "peer/runtime/exit_code.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/seal/key_check.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv::cli {
namespace {

struct Finding {
  std::string what;
  bool fine;
  std::string detail;
};

Finding libraries() {
  return {"libraries",
          true,
          fmt::format("asio {}, protobuf {}, eigen {}.{}.{}",
                      asio_version(),
                      wire::protobuf_version(),
                      EIGEN_WORLD_VERSION,
                      EIGEN_MAJOR_VERSION,
                      EIGEN_MINOR_VERSION)};
}

Finding cores() {
  const UsableCores cores = usable_cores();
  std::string text = fmt::format("{}", cores.count());
  if (cores.count() < cores.online)
    text += fmt::format(" of {}: CPU affinity allows {}", cores.online, cores.allowed);
  if (cores.quota) text += fmt::format(", the control group's quota is {:.3g}", *cores.quota);
  return {"cores", true, text};
}

Finding memory() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return {"memory", bytes > 1e9, fmt::format("{:.1f} GB", bytes * 1e-9)};
}

Finding file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return {"open files",
          limit.rlim_cur >= 256,
          fmt::format("limit {} (a fleet of 32 local peers needs 256)", limit.rlim_cur)};
}

Finding congestion_control() {
  std::ifstream in("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  in >> name;
  return {"tcp congestion control", !name.empty(), name.empty() ? "unknown" : name};
}

Finding host_name() {
  std::array<char, 256> name{};
  const bool known = gethostname(name.data(), name.size() - 1) == 0;
  return {"host name", known, known ? name.data() : "unknown"};
}

/// Both are fine: peers train on the CPU then.
Finding cuda() {
  const CudaStatus status = cuda_status();
  if (!status.built) return {"CUDA", true, "not built in: " + status.problem};
  if (status.devices.empty()) return {"CUDA", true, "built in; no device: " + status.problem};
  std::string list = "built in, " + status.versions;
  for (const CudaDevice& device : status.devices)
    list += fmt::format("; cuda:{} {} (capability {}, {:.0f} GB)",
                        device.number,
                        device.name,
                        device.capability,
                        device.memory_bytes * 1e-9);
  return {"CUDA", true, list};
}

/// Fine without, too: the fleets that name it fall back to digits.
Finding fashion_mnist() {
  const bool here = std::filesystem::is_directory("/usr/share/datasets/fashion-mnist");
  return {"Fashion-MNIST",
          true,
          here ? "installed"
               : "not installed (the first examples learn drawn digits instead; apt-get install "
                 "dataset-fashion-mnist)"};
}

/// Fine without, too: only scripts in Python need it.
Finding python_package() {
  constexpr const char* asks =
      "python3 -c 'import grapevine._library as g; print(g.library_path(), flush=True); g.load()' "
      "2>/dev/null";
  std::string library;
  std::array<char, 4096> block{};
  FILE* answer = popen(asks, "r");
  while (answer != nullptr && std::fgets(block.data(), block.size(), answer) != nullptr)
    library += block.data();
  const bool loads = answer != nullptr && pclose(answer) == 0;
  library = printable(library.substr(0, library.find('\n')), 300);
  if (library.empty())
    return {"Python package",
            true,
            "python3 does not find it (scripts as peers need it; pip install ./python)"};
  if (!loads)
    return {"Python package",
            false,
            fmt::format("python3 finds it, and cannot load {}: install both again, of one version",
                        library)};
  return {"Python package", true, fmt::format("python3 finds it, for {}", library)};
}

/// Says what the key files are good for; "" where there are none, and none are asked for.
std::string keys_text(const Fleet& fleet, const KeyCheck& keys) {
  const std::string& folder = fleet.security.keys;
  if (keys.good.empty() && keys.findings.empty()) {
    if (fleet.security.mode != SecurityMode::tls) return "";
    return fmt::format(
        "no keys in {}: `run` makes its own; peers that are started by hand need those of "
        "`grapevine keygen {}`",
        folder,
        shell_word(fleet.path));
  }
  if (keys.good.empty()) return "";
  std::string text = fmt::format(
      "keys of {} of {} peers in {}, of one fleet", keys.good.size(), fleet.size(), folder);
  if (!keys.missing.empty())
    text += fmt::format("; {} others have theirs elsewhere, or none", keys.missing.size());
  return text;
}

/// The machines of a fleet: each, and the roads between neighbours. And the keys that lie here.
int examine_hosts(const FleetOptions& file) {
  console::never_wait();
  std::unique_ptr<Scout> scout;
  const Assembly fleet = assemble_to_run(file, peer_program(), scout);
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  LanOptions options{peer_program(), fleet.fleet.path, file.sets, say};
  if (scout) options.introduction = scout->introduction();
  KeyCheck keys;
  if (fleet.fleet.security.mode != SecurityMode::plaintext)
    keys = check_key_files(fleet.fleet.security.keys, fleet.fleet.size());
  LanCheck check = check_lan(fleet, options);
  check.findings.insert(check.findings.end(), keys.findings.begin(), keys.findings.end());
  print_hosts(check, keys_text(fleet.fleet, keys), file.json);
  return check.findings.empty() ? exit_code::done : exit_code::check_failed;
}

int doctor(const FleetOptions& arguments) {
  if (!arguments.file.empty()) return examine_hosts(arguments);
  const bool json = arguments.json;
  const std::vector<Finding> findings{libraries(),
                                      cores(),
                                      memory(),
                                      file_limit(),
                                      congestion_control(),
                                      host_name(),
                                      cuda(),
                                      fashion_mnist(),
                                      python_package()};
  bool fine = true;
  Json rows = Json::array();
  if (!json) fmt::print("paste this into an issue:\n{}\n", version_text());
  for (const Finding& f : findings) {
    fine = fine && f.fine;
    if (json) {
      rows.push_back({{"what", f.what}, {"ok", f.fine}, {"detail", f.detail}});
    } else {
      fmt::print("{}\n",
                 wrapped(fmt::format("[{}] {}: {}", f.fine ? 'x' : '!', f.what, f.detail), 4));
    }
  }
  if (json)
    fmt::print("{}\n",
               Json{{"schema", "grapevine.doctor/1"}, {"version", version_text()}, {"checks", rows}}
                   .dump());
  return fine ? exit_code::done : exit_code::check_failed;
}

void doctor_options(Options& options, FleetOptions& arguments) {
  add_fleet_options(options, arguments);
}

}  // namespace

Command doctor_command() {
  return command(
      "doctor",
      "Check this machine, or each host of FILE and the network between them; exit 4 on a finding",
      "  grapevine doctor\n  grapevine doctor --json\n  grapevine doctor lan.yaml",
      doctor_options,
      doctor);
}

}  // namespace gv::cli
