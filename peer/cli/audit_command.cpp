#include <filesystem>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peer/cli/command.h"
#include "peer/runtime/ledger.h"

namespace gv::cli {
namespace {

int audit_run(const std::string& folder, bool json) {
  if (!std::filesystem::is_directory(folder + "/peers"))
    throw std::invalid_argument(folder + ": not the folder of a run (it has no peers/)");
  const Ledgers ledgers = read_ledgers(folder);
  if (ledgers.entries.empty())
    throw std::invalid_argument(folder +
                                ": there are no ledgers; run with --set faults.ledger=true");
  const LedgerAudit result = audit(ledgers);
  if (json) {
    fmt::print("{}\n",
               nlohmann::ordered_json{{"event", "audit"},
                                      {"both", result.both},
                                      {"one_sided", result.one_sided},
                                      {"findings", result.findings}}
                   .dump());
  } else {
    for (const std::string& finding : result.findings) fmt::print("{}\n", finding);
    fmt::print(
        "{} pieces of exchanges in both books, {} in one (the other end died), {} findings\n",
        result.both,
        result.one_sided,
        result.findings.size());
  }
  return result.findings.empty() ? exit_code::done : exit_code::check_failed;
}

}  // namespace

void add_audit(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand(
      "audit",
      "Compare what all peers of a run wrote down of their exchanges; exit 4 on a finding");
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("RUN", *folder, "The folder of a run with faults.ledger")->required();
  command->add_flag("--json", *json, "Print JSON on stdout");
  add_examples(*command,
               "  grapevine run configs/quadratic-ring16.yaml --set faults.ledger=true\n"
               "  grapevine audit runs/quadratic-ring16");
  command->callback([folder, json, &outcome] { outcome.code = audit_run(*folder, *json); });
}

}  // namespace gv::cli
