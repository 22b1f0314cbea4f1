#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats/graph_file.h"
#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/runtime/ledger.h"

namespace gv::cli {
namespace {

struct AuditArguments {
  std::string folder;
  bool json = false;
};

std::string missing_books(const LedgerAudit& result) {
  return fmt::format("{}", fmt::join(result.missing, ", "));
}

void print_audit_json(const LedgerAudit& result) {
  std::vector<std::string> findings;
  for (const LedgerFinding& finding : result.findings) findings.push_back(to_text(finding));
  console::print({{"event", "audit"},
                  {"both", result.both},
                  {"one_sided", result.one_sided},
                  {"unchecked", result.unchecked},
                  {"missing", std::vector<PeerId>(result.missing.begin(), result.missing.end())},
                  {"findings", findings}});
}

void print_audit(const LedgerAudit& result) {
  for (const LedgerFinding& finding : result.findings) fmt::print("{}\n", to_text(finding));
  if (!result.missing.empty())
    fmt::print(
        "there is no ledger of {} here: {} pieces that others exchanged with it are not checked; "
        "fetch peers/*/ledger-*.txt from the hosts that ran it\n",
        (result.missing.size() == 1 ? "peer " : "peers ") + missing_books(result),
        result.unchecked);
  fmt::print(
      "{} pieces of exchanges in both books, {} in one (one of the two peers died)\n{} findings\n",
      result.both, result.one_sided, result.findings.size());
}

/// Returns a word of run.json, which is not trusted; "" if it has none.
std::string about(const std::string& folder, const std::string& key) {
  try {
    const std::string path = folder + "/run.json";
    return printable(json_text(parse_json(file_bytes(path, 1U << 20U), path), key), 40);
  } catch (const std::exception&) {
    return "";
  }
}

[[noreturn]] void refuse_nothing(const std::string& folder, const Ledgers& ledgers) {
  const std::string method = about(folder, "algorithm");
  if (!ledgers.here.empty())
    throw std::invalid_argument(
        fmt::format("{}: the ledgers are empty: {} wrote none; methods that average with all "
                    "neighbours on undirected graphs write ledgers, such as d-psgd on a ring",
                    folder, method.empty() ? "its method" : method));
  if (about(folder, "kind") == "simulate")
    throw std::invalid_argument(folder +
                                ": a simulation compares both ends of each exchange itself and "
                                "leaves no ledgers; audit a `run` with --set faults.ledger=true");
  throw std::invalid_argument(folder + ": there are no ledgers; run with --set faults.ledger=true");
}

int audit_run(const AuditArguments& arguments) {
  const std::string& folder = arguments.folder;
  if (!std::filesystem::is_directory(folder + "/peers"))
    throw std::invalid_argument(folder + ": not the folder of a run (it has no peers/)");
  const Ledgers ledgers = read_ledgers(folder);
  if (ledgers.entries.empty()) refuse_nothing(folder, ledgers);
  const LedgerAudit result = audit(ledgers);
  arguments.json ? print_audit_json(result) : print_audit(result);
  return result.findings.empty() ? exit_code::done : exit_code::check_failed;
}

void audit_options(Options& options, AuditArguments& arguments) {
  options.value("RUN", arguments.folder, "Folder of a run with faults.ledger").required();
  options.json(arguments.json);
}

}  // namespace

Command audit_command() {
  return command("audit", "Compare the ledgers of all peers of a run; exit 4 on a finding",
                 "  grapevine run configs/quadratic-ring16.yaml --set faults.ledger=true\n"
                 "  grapevine audit runs/quadratic-ring16",
                 audit_options, audit_run);
}

}  // namespace gv::cli
