#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <Eigen/Core>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gpu/cuda_replica.h"
#include "optim/machine/workers.h"
#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/launch/agent/lan/lan_check.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv::cli {
namespace {

constexpr std::size_t most_name = 60;

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.0f} GB", static_cast<double>(bytes) * 1e-9);
}

std::string figures(const HostCheck& host) {
  const HostFacts& facts = *host.facts;
  return fmt::format("{:<10} {:>6.2f} s {:>9} {:>5} {:>6} {:>8} {:>+8.1f} s {:>8}", host.name,
                     host.ssh_seconds, facts.version.empty() ? "-" : printable(facts.version, 9),
                     facts.wire, facts.cores, gigabytes(facts.memory_bytes), host.clock_ahead,
                     host.look ? gigabytes(host.look->free_bytes) : "-");
}

std::string devices_text(const DataLook& look) {
  if (!look.devices) return "";
  if (look.devices->empty()) return "; no CUDA device";
  std::string text;
  for (const DeviceFacts& device : *look.devices)
    text += fmt::format("; cuda:{} {} ({})", device.number, printable(device.name, most_name),
                        gigabytes(device.memory_bytes));
  return text;
}

/// Returns a host's address and hardware.
std::string belongings(const HostCheck& host) {
  const HostFacts& facts = *host.facts;
  std::string text = "no address that others can reach";
  if (!facts.addresses.empty())
    text = fmt::format("{} ({})", facts.addresses[0].address, facts.addresses[0].interface);
  text += "; " + printable(facts.processor, most_name);
  if (!host.look) return text;
  text += devices_text(*host.look);
  const std::string data = data_digest(*host.look);
  if (!data.empty()) text += "; data " + data;
  return text;
}

std::string host_text(const HostCheck& host) {
  if (!host.facts) return fmt::format("{:<10} no agent came up\n", host.name);
  return figures(host) + "\n" + wrapped("           " + belongings(host), 11) + "\n";
}

Json devices_json(const std::vector<DeviceFacts>& devices) {
  return mapped(devices, [](const DeviceFacts& device) {
    return Json{{"device", fmt::format("cuda:{}", device.number)},
                {"name", device.name},
                {"memory_bytes", device.memory_bytes}};
  });
}

Json host_json(const HostCheck& host) {
  Json row{{"host", host.name}, {"ok", host.facts.has_value()}};
  if (!host.facts) return row;
  row["ssh_seconds"] = host.ssh_seconds;
  row["version"] = host.facts->version;
  row["wire"] = host.facts->wire;
  row["clock_ahead_seconds"] = host.clock_ahead;
  row["free_bytes"] = host.look ? Json(host.look->free_bytes) : Json();
  row["processor"] = host.facts->processor;
  row["cores"] = host.facts->cores;
  row["memory_bytes"] = host.facts->memory_bytes;
  const bool told = host.look && host.look->devices;
  row["devices"] = told ? devices_json(*host.look->devices) : Json();
  row["no_device"] = told ? Json(host.look->no_device) : Json();
  row["data_digest"] = host.look ? Json(data_digest(*host.look)) : Json();
  row["addresses"] = mapped(host.facts->addresses, [](const InterfaceAddress& each) {
    return Json{{"interface", each.interface}, {"address", each.address}};
  });
  return row;
}

void print_doctor_json(const LanCheck& check, const std::string& keys) {
  console::print({{"schema", "grapevine.doctor-hosts/1"},
                  {"hosts", mapped(check.hosts, host_json)},
                  {"roads", check.roads},
                  {"keys", keys.empty() ? Json() : Json(keys)},
                  {"findings", check.findings},
                  {"warnings", check.warnings}});
}

/// Prints a sentence and lines of help after "[!] " or another mark.
void print_finding(const std::string& mark, const std::string& finding) {
  std::istringstream lines(mark + finding);
  for (std::string line; std::getline(lines, line);)
    console::print_wrapped(line, line.starts_with("help:") ? 7 : 4);
}

/// Prints the result of `doctor FILE`: two lines or more for each host, the connections, `keys`
/// (may be "") and the findings; as JSON if asked.
void print_hosts(const LanCheck& check, const std::string& keys, bool json) {
  if (json) return print_doctor_json(check, keys);
  fmt::print("{:<10} {:>8} {:>9} {:>5} {:>6} {:>8} {:>10} {:>8}\n", "host", "ssh", "version",
             "wire", "cores", "memory", "clock", "free");
  for (const HostCheck& host : check.hosts) fmt::print("{}", host_text(host));
  for (const std::string& road : check.roads) fmt::print("[x] {}\n", road);
  if (!keys.empty()) fmt::print("[x] {}\n", keys);
  for (const std::string& warning : check.warnings) print_finding("[-] ", warning);
  for (const std::string& finding : check.findings) print_finding("[!] ", finding);
}

struct Finding {
  std::string what;
  bool fine;
  std::string detail;
};

Finding libraries() {
  return {
      "libraries", true,
      fmt::format("asio {}, protobuf {}, eigen {}.{}.{}", asio_version(), wire::protobuf_version(),
                  EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)};
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
  return {"open files", limit.rlim_cur >= 256,
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

/// Never a problem: without CUDA, peers train on the CPU.
Finding cuda() {
  const CudaStatus status = cuda_status();
  if (!status.built) return {"CUDA", true, "not built in: " + status.problem};
  if (status.devices.empty()) return {"CUDA", true, "built in; no device: " + status.problem};
  std::string list = "built in, " + status.versions;
  for (const CudaDevice& device : status.devices)
    list += fmt::format("; cuda:{} {} (capability {}, {:.0f} GB)", device.number, device.name,
                        device.capability, device.memory_bytes * 1e-9);
  return {"CUDA", true, list};
}

/// Never a problem: fleets that name these data fall back to digits.
Finding fashion_mnist() {
  const bool here = std::filesystem::is_directory("/usr/share/datasets/fashion-mnist");
  return {"Fashion-MNIST", true,
          here ? "installed"
               : "not installed (the first examples learn drawn digits instead; apt-get install "
                 "dataset-fashion-mnist)"};
}

/// Never a problem: only scripts in Python need the package.
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
    return {"Python package", true,
            "python3 does not find it (scripts as peers need it; pip install ./python)"};
  if (!loads)
    return {"Python package", false,
            fmt::format("python3 finds it, and cannot load {}: install both again, of one version",
                        library)};
  return {"Python package", true, fmt::format("python3 finds it, for {}", library)};
}

/// Returns the use of the key files; "" if there are none and none are required.
std::string keys_text(const Fleet& fleet, const KeyCheck& keys) {
  const std::string& folder = fleet.security.keys;
  if (keys.good.empty() && keys.findings.empty()) {
    if (fleet.security.mode != SecurityMode::tls) return "";
    return fmt::format(
        "no keys in {}: `run` makes its own; peers that are started by hand need those of "
        "`grapevine keygen {}`",
        folder, shell_path(fleet.path));
  }
  if (keys.good.empty()) return "";
  std::string text = fmt::format("keys of {} of {} peers in {}, of one fleet", keys.good.size(),
                                 fleet.size(), folder);
  if (!keys.missing.empty())
    text += fmt::format("; {} others have theirs elsewhere, or none", keys.missing.size());
  return text;
}

/// Checks the machines of a fleet, the connections between neighbours, and the keys here.
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
  const std::vector<Finding> findings{libraries(),          cores(),     memory(), file_limit(),
                                      congestion_control(), host_name(), cuda(),   fashion_mnist(),
                                      python_package()};
  bool fine = true;
  Json rows = Json::array();
  if (!json) fmt::print("paste this into an issue:\n{}\n", version_text());
  for (const Finding& f : findings) {
    fine = fine && f.fine;
    if (json) {
      rows.push_back({{"what", f.what}, {"ok", f.fine}, {"detail", f.detail}});
    } else {
      console::print_wrapped(fmt::format("[{}] {}: {}", f.fine ? 'x' : '!', f.what, f.detail), 4);
    }
  }
  if (json)
    console::print(
        {{"schema", "grapevine.doctor/1"}, {"version", version_text()}, {"checks", rows}});
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
      "  grapevine doctor\n  grapevine doctor --json\n  grapevine doctor lan.yaml", doctor_options,
      doctor);
}

}  // namespace gv::cli
