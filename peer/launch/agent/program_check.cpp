#include "peer/launch/agent/program_check.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/launch/agent/fleet_copy.h"
#include "peer/launch/hear.h"
#include "peer/launch/program/own_program.h"

namespace gv {
namespace {

constexpr std::size_t most_words = 60;     ///< lines that are kept
constexpr std::size_t longest_word = 500;  ///< bytes
constexpr const char* introduction_begins = R"({"schema":"grapevine.program/1")";

/// One process on one machine, and what came of it.
struct Running {
  std::string host;
  std::unique_ptr<Process> process;
  ProgramTrial trial{};
};

/// An agent cuts lines of more than a megabyte: of so many parameters no two lists are compared.
void heed(const std::string& line, ProgramTrial& trial) {
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

/// Returns whether it has ended; who has said what it trains is needed no more.
bool look_after(Running& one) {
  if (!one.process->running()) return true;
  const bool before = one.trial.introduced;
  const auto keep = [&](const std::string& line) {
    one.trial.words.push_back(printable(line, longest_word));
    if (one.trial.words.size() > most_words) one.trial.words.erase(one.trial.words.begin());
  };
  const bool ended = hear(
      *one.process, [&](const std::string& line) { heed(line, one.trial); }, keep);
  if (one.trial.introduced && !before) one.process->kill(SIGKILL);
  if (ended) one.trial.ending = one.process->ending();
  return ended;
}

/// "fc.weight [10, 128]".
std::string shape_of(const asked::Tensor& tensor) {
  return fmt::format("{} [{}]", printable(tensor.name, 200), fmt::join(tensor.shape, ", "));
}

/// The first tensor that is another one; "": none.
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

/// Says what is missing, of what mostly is; each word is the loader's or Python's.
std::string help_for(const std::string& host, const ProgramSpec& program, const std::string& said) {
  const auto says = [&](const char* words) { return said.find(words) != std::string::npos; };
  const std::string folder = fmt::format("`hosts: {{ {}: {{ folder: FOLDER }} }}`", host);
  if (says("cannot run in "))
    return fmt::format("make that folder there, or name another as {}", folder);
  if (says("can't open file") || says("cannot open "))
    return fmt::format("put {} there, into the folder that {} names",
                       printable(script_name(program), 100),
                       folder);
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
                     printable(fmt::format("{}", fmt::join(program.command, " ")), 300),
                     folder);
}

}  // namespace

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
    if (!one.process) one.trial.introduced = true;  // it trains nothing, or is no more
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
        "anew",
        host,
        name,
        other);
  }
  const std::string said = fmt::format("{}", fmt::join(trial.words, "\n"));
  std::string text = fmt::format("host {}: {} ended before it called DistributedOptimizer ({})",
                                 host,
                                 name,
                                 printable(trial.ending, 200));
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
    if (!machines.at(k).host->failure().empty()) continue;  // which is said already
    const std::string finding =
        program_finding(machines.at(k).spec.name, *fleet.program, trials[k], here);
    if (!finding.empty()) findings.push_back(finding);
  }
  return findings;
}

}  // namespace gv
