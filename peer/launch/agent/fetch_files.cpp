#include "peer/launch/agent/fetch_files.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

/// Returns the folder of a peer in a run's folder.
std::string folder_of(PeerId id) {
  return fmt::format("peers/{:03}/", id);
}

FileTaker taker_of(const RunFolder& folder, const std::vector<PeerId>& peers) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30;
  std::vector<std::string> own;
  for (const PeerId i : peers) {
    own.push_back(folder_of(i));
    folder.peer(i);
  }
  const auto is_own = [own](const std::string& name) {
    return std::ranges::any_of(own,
                               [&](const std::string& each) { return name.starts_with(each); });
  };
  return {folder.path(), is_own, most_bytes};
}

/// Waits as long as bytes arrive. Returns the error, or "" if all files are here.
std::string fetch(Machines& machines, RemoteHost& host) {
  constexpr auto patience = std::chrono::seconds(30);
  std::optional<std::string> fetched;
  const auto done = [&] {
    if (!fetched) fetched = host.take_answer(AgentKind::fetched);
    return fetched || !host.failure().empty();
  };
  std::uint64_t before = 0;
  bool over = false;
  while (!over) {
    before = host.received_bytes();
    over = machines.work_until(done, patience) || host.received_bytes() == before;
  }
  if (fetched) return json_text(parse_json(*fetched, "an agent's files"), "error");
  return host.failure().empty() ? "it does not answer" : host.failure();
}

}  // namespace

std::vector<std::string> bring_home(Machines& machines,
                                    const RunFolder& folder,
                                    const std::function<void(const std::string&)>& say) {
  for (std::size_t k = 0; k < machines.all().size(); ++k)
    if (!machines.at(k).host->failure().empty()) machines.start_again(k, false);
  machines.wait_for_agents();
  for (Machine& machine : machines.all()) {
    machine.host->take_files(taker_of(folder, machine.peers));
    machine.host->send({AgentKind::fetch, 0, ""});
  }
  std::vector<std::string> missing;
  for (Machine& machine : machines.all()) {
    const std::string wrong = fetch(machines, *machine.host);
    machine.keeps_files = !wrong.empty();
    if (wrong.empty()) continue;
    missing.push_back(machine.spec.name);
    say(fmt::format("host {}: what its peers left could not be fetched: {}", machine.spec.name,
                    printable(wrong, 300)));
  }
  return missing;
}

HostFolders host_folders(const Machines& machines) {
  HostFolders hosts;
  for (const Machine& machine : machines.all())
    hosts[machine.spec.name] = {machine.folder, !machine.keeps_files};
  return hosts;
}

std::vector<std::string> fetch_rest(const Assembly& fleet,
                                    LanOptions options,
                                    const RunFolder& folder) {
  options.folders = read_host_folders(folder.path());
  std::erase_if(options.folders, [](const auto& host) { return host.second.fetched; });
  options.those_alone = true;
  HostFolders all = read_host_folders(folder.path());
  Machines machines(fleet, options);
  machines.start();
  const std::vector<std::string> missing = bring_home(machines, folder, options.say);
  for (const auto& [host, there] : host_folders(machines)) all[host] = there;
  write_host_folders(folder, all);
  return missing;
}

}  // namespace gv
