#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/json/json.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/ledger.h"

namespace gv::cli {
namespace {

struct AuditArguments {
  std::string folder;
  bool json = false;
};

int audit_run(const AuditArguments& arguments) {
  const std::string& folder = arguments.folder;
  if (!std::filesystem::is_directory(folder + "/peers"))
    throw std::invalid_argument(folder + ": not the folder of a run (it has no peers/)");
  const Ledgers ledgers = read_ledgers(folder);
  if (ledgers.entries.empty())
    throw std::invalid_argument(folder +
                                ": there are no ledgers; run with --set faults.ledger=true");
  const LedgerAudit result = audit(ledgers);
  if (arguments.json) {
    fmt::print("{}\n",
               Json{{"event", "audit"},
                    {"both", result.both},
                    {"one_sided", result.one_sided},
                    {"findings", result.findings}}
                   .dump());
  } else {
    for (const std::string& finding : result.findings) fmt::print("{}\n", finding);
    fmt::print(
        "{} pieces of exchanges in both books, {} in one (the other end died)\n{} findings\n",
        result.both,
        result.one_sided,
        result.findings.size());
  }
  return result.findings.empty() ? exit_code::done : exit_code::check_failed;
}

void audit_options(Options& options, AuditArguments& arguments) {
  options.value("RUN", arguments.folder, "The folder of a run with faults.ledger").required();
  options.json(arguments.json);
}

}  // namespace

Command audit_command() {
  return command("audit",
                 "Compare what all peers of a run wrote down of their exchanges; exit 4 on a "
                 "finding",
                 "  grapevine run configs/quadratic-ring16.yaml --set faults.ledger=true\n"
                 "  grapevine audit runs/quadratic-ring16",
                 audit_options,
                 audit_run);
}

}  // namespace gv::cli
