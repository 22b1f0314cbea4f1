#include "peer/launch/agent/lan/lan_check.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/agent/peer_paths.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/process/process.h"
#include "peer/launch/program/own_program.h"

namespace gv {
namespace {

HostCheck check_of(const Machine& machine) {
  return {.name = machine.spec.name,
          .ssh_seconds = machine.host->seconds_to_facts(),
          .facts = machine.host->facts(),
          .clock_ahead = machine.host->facts() ? machine.host->clock_ahead() : 0};
}

void check_disk(const HostCheck& host, std::vector<std::string>& findings) {
  constexpr std::uint64_t least_free = 500'000'000;
  if (!host.look || host.look->free_bytes >= least_free) return;
  findings.push_back(
      fmt::format("host {}: {} MB are free on the disk of its cache\nhelp:  make "
                  "room for the program (60 MB), checkpoints and records",
                  host.name, host.look->free_bytes / 1'000'000));
}

void check_devices(const HostCheck& host,
                   const Machine& machine,
                   const Fleet& fleet,
                   std::vector<std::string>& findings) {
  if (!host.facts || !host.look) return;
  const HostDevices has{host.name, host.facts->cores, host.look->devices, host.look->no_device};
  for (std::string& finding : device_findings(has, machine.peers, fleet.peers))
    findings.push_back(std::move(finding));
}

/// Returns "cuda:0 and cuda:1", or the reason why there is none.
std::string devices_text(const HostDevices& host) {
  if (host.devices->empty())
    return host.no_device.empty() ? "none" : "none: " + printable(host.no_device, 200);
  std::string text;
  for (std::size_t k = 0; k < host.devices->size(); ++k)
    text += fmt::format("{}cuda:{}",
                        k == 0                          ? ""
                        : k + 1 == host.devices->size() ? " and "
                                                        : ", ",
                        (*host.devices)[k].number);
  return text;
}

/// `cuda` is the first device; `auto` takes any.
bool has(const HostDevices& host, const std::string& word) {
  if (!word.starts_with("cuda")) return true;
  const std::string asked = word == "cuda" ? "cuda:0" : word;
  return std::ranges::any_of(*host.devices, [&](const DeviceFacts& device) {
    return asked == fmt::format("cuda:{}", device.number);
  });
}

bool on_cpu(const HostDevices& host, const PeerSpec& peer) {
  if (peer.device == "auto") return !host.devices || host.devices->empty();
  return peer.device == "cpu";
}

/// Checks one peer alone, or several with a set number of threads. Many peers with one thread each
/// on a small machine are slow, but wanted.
std::string threads_finding(const HostDevices& host,
                            const std::vector<PeerId>& ids,
                            const std::vector<PeerSpec>& peers) {
  unsigned threads = 0;
  unsigned on = 0;
  int most = 1;
  for (const PeerId id : ids) {
    if (!on_cpu(host, peers[id])) continue;
    threads += static_cast<unsigned>(peers[id].threads);
    most = std::max(most, peers[id].threads);
    ++on;
  }
  if (most == 1 || threads <= host.cores) return "";
  return fmt::format(
      "host {}: {} compute with {} threads, and it has {}, on which threads then wait for each "
      "other\nhelp:  write `threads: {}` for its peers",
      host.name, on == 1 ? "one peer is to" : fmt::format("{} peers are to", on), threads,
      counted(host.cores, "core"), std::max(1U, host.cores / on));
}

/// Returns "path/train.csv", or the path if it is the file itself.
std::string shown(const std::string& path, const std::string& name) {
  return name.empty() ? path : path + "/" + printable(name, 200);
}

/// Returns the first file that differs, and how, or "" if all are the same.
std::string difference(const std::string& path,
                       const std::vector<FileDigest>& here,
                       const std::vector<FileDigest>& there) {
  for (std::size_t k = 0; k < std::max(here.size(), there.size()); ++k) {
    const bool only_here = k >= there.size() || (k < here.size() && here[k].name < there[k].name);
    const bool only_there = k >= here.size() || (k < there.size() && there[k].name < here[k].name);
    if (only_here) return shown(path, here[k].name) + " is missing on one side";
    if (only_there) return shown(path, there[k].name) + " is missing on one side";
    if (here[k].bytes != there[k].bytes)
      return fmt::format("{} has {} bytes on one and {} on the other", shown(path, here[k].name),
                         here[k].bytes, there[k].bytes);
    if (here[k].digest != there[k].digest)
      return shown(path, here[k].name) + " has another content";
  }
  return "";
}

constexpr std::size_t most_words = 60;     ///< lines that are kept
constexpr std::size_t longest_word = 500;  ///< bytes
constexpr const char* introduction_begins = R"({"schema":"grapevine.program/1")";

/// One process on one machine, and its result.
struct Running {
  std::string host;
  std::unique_ptr<Process> process;
  ProgramTrial trial{};
};

/// An agent cuts lines over a megabyte, so that very long lists of parameters are not compared.
void handle_line(const std::string& line, ProgramTrial& trial) {
  try {
    const asked::ProgramSays says = asked::parse_program(line);
    const auto* const introduction = std::get_if<asked::Introduction>(&says);
    if (introduction == nullptr) return;
    trial.says = *introduction;
    trial.introduced = true;
  } catch (const std::exception&) {
    trial.introduced = trial.introduced || line.starts_with(introduction_begins);
  }
}

/// Returns whether the program has ended; kills it after its introduction.
bool look_after(Running& one) {
  if (!one.process->running()) return true;
  const bool before = one.trial.introduced;
  const auto keep = [&](const std::string& line) {
    one.trial.words.push_back(printable(line, longest_word));
    if (one.trial.words.size() > most_words) one.trial.words.erase(one.trial.words.begin());
  };
  const bool ended = hear(
      *one.process, [&](const std::string& line) { handle_line(line, one.trial); }, keep);
  if (one.trial.introduced && !before) one.process->kill(SIGKILL);
  if (ended) one.trial.ending = one.process->ending();
  return ended;
}

/// Returns "fc.weight [10, 128]".
std::string shape_of(const asked::Tensor& tensor) {
  return fmt::format("{} [{}]", printable(tensor.name, 200), fmt::join(tensor.shape, ", "));
}

/// Returns the first tensor that differs, or "".
std::string difference(const asked::Introduction& there, const asked::Introduction& here) {
  if (there.parameters.empty()) return "";
  const std::size_t most = std::max(there.parameters.size(), here.parameters.size());
  for (std::size_t k = 0; k < most; ++k) {
    const auto shown = [k](const asked::Introduction& says) {
      return k < says.parameters.size() ? shape_of(says.parameters[k]) : "none";
    };
    if (k < there.parameters.size() && k < here.parameters.size() &&
        there.parameters[k] == here.parameters[k])
      continue;
    return fmt::format("tensor {} is {} there, and {} here", k, shown(there), shown(here));
  }
  return "";
}

/// Returns what is probably missing, judged by words of the loader or of Python.
std::string help_for(const std::string& host, const ProgramSpec& program, const std::string& said) {
  const auto says = [&](const char* words) { return said.find(words) != std::string::npos; };
  const std::string folder = fmt::format("`hosts: {{ {}: {{ folder: FOLDER }} }}`", host);
  if (says("cannot run in "))
    return fmt::format("make that folder there, or name another as {}", folder);
  if (says("can't open file") || says("cannot open "))
    return fmt::format("put {} there, into the folder that {} names",
                       printable(script_name(program), 100), folder);
  if (says("No module named 'grapevine'"))
    return "install the Python package of Grapevine there, or say where it lies: `program: { env: "
           "{ PYTHONPATH: FOLDER } }`";
  if (says("No module named '"))
    return fmt::format("install that module there, for the Python that `{}` is",
                       printable(program.command.front(), 100));
  if (says("cannot start `"))
    return fmt::format("install `{}` there, or write its whole path",
                       printable(program.command.front(), 100));
  return fmt::format("try `{}` there by hand, in the folder that {} names",
                     printable(fmt::format("{}", fmt::join(program.command, " ")), 300), folder);
}

}  // namespace

LanCheck check_lan(const Assembly& fleet, const LanOptions& options) {
  Machines machines(fleet, options);
  PeerPaths peer_paths(fleet, machines);
  machines.start();
  peer_paths.find();
  LanCheck check;
  for (const Machine& machine : machines.all()) check.hosts.push_back(check_of(machine));
  std::vector<std::vector<std::string>> paths;
  for (const std::string& host : machines.names())
    paths.push_back(data_paths(options.file, options.sets, host));
  const auto looks = look_everywhere(machines, paths, true);
  check.findings = data_findings(machines.names(), paths, looks);
  for (std::size_t k = 0; k < looks.size(); ++k) {
    HostCheck& host = check.hosts[k];
    host.look = looks[k];
    check_disk(host, check.findings);
    const std::string note = clock_note(host.name, host.clock_ahead);
    if (!note.empty()) check.warnings.push_back(note);
    // A program finds its devices itself.
    if (!fleet.fleet.program) check_devices(host, machines.at(k), fleet.fleet, check.findings);
  }
  if (options.introduction) {
    for (std::size_t k = 0; k < looks.size(); ++k) machines.give_fleet(k);
    for (std::string& finding :
         program_findings(machines, fleet.fleet, *options.introduction, options.say))
      check.findings.push_back(std::move(finding));
  }
  for (const std::string& wrong : {machines.failures(), peer_paths.missing()})
    if (!wrong.empty()) check.findings.push_back(wrong);
  std::vector<std::string> as_root;
  for (const HostCheck& host : check.hosts)
    if (is_lan(fleet.fleet) && host.facts && host.facts->root) as_root.push_back(host.name);
  if (const std::string note = root_note(as_root); !note.empty()) check.warnings.push_back(note);
  check.roads = peer_paths.texts();
  const std::vector<std::string> one_way = peer_paths.one_way();
  check.warnings.insert(check.warnings.end(), one_way.begin(), one_way.end());
  return check;
}

std::vector<std::string> device_findings(const HostDevices& host,
                                         const std::vector<PeerId>& ids,
                                         const std::vector<PeerSpec>& peers) {
  std::vector<std::string> findings;
  for (const PeerId id : ids) {
    const std::string& word = peers[id].device;
    if (!host.devices || has(host, word)) continue;
    findings.push_back(
        fmt::format("host {}: peer {} is to train on `{}`; CUDA devices there: {}\nhelp:  write a "
                    "device that is there, `cpu`, or `auto`; `grapevine doctor` on that host shows "
                    "more",
                    host.name, id, word, devices_text(host)));
  }
  if (std::string threads = threads_finding(host, ids, peers); !threads.empty())
    findings.push_back(std::move(threads));
  return findings;
}

std::vector<std::optional<DataLook>> look_everywhere(
    Machines& machines, const std::vector<std::vector<std::string>>& paths, bool devices) {
  // A slow disk may have to read a gigabyte. An agent without a sign of life fails long before.
  constexpr auto patience = std::chrono::minutes(2);
  const auto question = [&](std::size_t k) {
    return Json{{"paths", paths.at(k)}, {"devices", devices}}.dump();
  };
  const auto texts = machines.ask(AgentKind::look, AgentKind::looked, question, patience);
  std::vector<std::optional<DataLook>> looks(texts.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k].empty()) continue;
    try {
      looks[k] = parse_look(texts[k], paths.at(k).size());
    } catch (const std::exception& wrong) {
      machines.all()[k].host->give_up(wrong.what());
    }
  }
  return looks;
}

std::string data_digest(const DataLook& look) {
  std::string text;
  for (const auto& files : look.data) {
    if (!files) return "";
    for (const FileDigest& file : *files)
      text += fmt::format("{} {} {} {};", file.name.size(), file.name, file.bytes, file.digest);
  }
  if (look.data.empty()) return "";
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())).substr(0, 8);
}

std::vector<std::string> data_findings(const std::vector<std::string>& hosts,
                                       const std::vector<std::vector<std::string>>& paths,
                                       const std::vector<std::optional<DataLook>>& looks) {
  std::vector<std::string> findings;
  const std::size_t count = paths.empty() ? 0 : paths[0].size();
  for (std::size_t p = 0; p < count; ++p) {
    std::optional<std::size_t> first;
    for (std::size_t k = 0; k < looks.size(); ++k) {
      if (!looks[k]) continue;
      const std::string& host = hosts[k];
      if (!looks[k]->data[p]) {
        findings.push_back(fmt::format(
            "host {0}: {1} is not there\nhelp:  put it there; or write `hosts: {{ {0}: {{ data: "
            "FOLDER "
            "}} }}` where it lies elsewhere; or `launch: {{ data: push }}`, and it is sent along",
            host, paths[k][p]));
        continue;
      }
      if (!first) first = k;
      const std::string what = difference(paths[k][p], *looks[*first]->data[p], *looks[k]->data[p]);
      if (what.empty()) continue;
      findings.push_back(fmt::format(
          "host {}: its data are not those of {}: {}\nhelp:  copy them again; where each "
          "host is to have its own, name the file with {{id}}: part-{{id}}.csv",
          host, hosts[*first], what));
    }
  }
  return findings;
}

std::vector<ProgramTrial> try_programs(Machines& machines,
                                       const std::function<void(const std::string&)>& say) {
  constexpr Time patience{std::chrono::seconds(60)};
  std::vector<Running> all;
  for (std::size_t k = 0; k < machines.all().size(); ++k) {
    Running& one = all.emplace_back(Running{.host = machines.at(k).spec.name, .process = nullptr});
    one.process = machines.ask_program(k);
  }
  const auto waits = [](Running& one) { return one.process && !look_after(one); };
  const auto over = [&] { return std::ranges::count_if(all, waits) == 0; };
  while (!machines.work_until(over, patience)) {
    std::vector<std::string> still;
    for (const Running& one : all)
      if (one.process && one.process->running()) still.push_back(one.host);
    say(fmt::format("the program has not called DistributedOptimizer yet on {}",
                    fmt::join(still, ", ")));
  }
  std::vector<ProgramTrial> trials;
  for (Running& one : all) {
    if (!one.process) one.trial.introduced = true;  // no trainer there, or a failed machine
    trials.push_back(std::move(one.trial));
  }
  return trials;
}

std::string program_finding(const std::string& host,
                            const ProgramSpec& program,
                            const ProgramTrial& trial,
                            const asked::Introduction& here) {
  const std::string name = printable(script_name(program), 100);
  if (trial.introduced) {
    const std::string other = difference(trial.says, here);
    if (other.empty()) return "";
    return fmt::format(
        "host {}: its {} trains another model than the one here: {}\nhelp:  copy the program there "
        "again",
        host, name, other);
  }
  const std::string said = fmt::format("{}", fmt::join(trial.words, "\n"));
  std::string text = fmt::format("host {}: {} ended before it called DistributedOptimizer ({})",
                                 host, name, printable(trial.ending, 200));
  for (const std::string& line : trial.words) text += "\n  " + line;
  return text + "\nhelp:  " + help_for(host, program, said);
}

std::vector<std::string> program_findings(Machines& machines,
                                          const Fleet& fleet,
                                          const asked::Introduction& here,
                                          const std::function<void(const std::string&)>& say) {
  std::vector<std::string> findings;
  const std::vector<ProgramTrial> trials = try_programs(machines, say);
  for (std::size_t k = 0; k < trials.size(); ++k) {
    if (!machines.at(k).host->failure().empty()) continue;  // reported already
    const std::string finding =
        program_finding(machines.at(k).spec.name, *fleet.program, trials[k], here);
    if (!finding.empty()) findings.push_back(finding);
  }
  return findings;
}

}  // namespace gv
