#include "peer/runtime/tcp_journal.h"

#include <utility>

#include <fmt/format.h>

namespace gv {

void TcpJournal::store(Round round, std::vector<std::byte> state) {
  if (checkpoints == nullptr) return;
  if (const Verdict wrong = checkpoints->save(round, std::move(state)); !wrong.empty())
    log(fmt::format("no checkpoint of round {}, the older ones are kept: {}", round, wrong));
}

void TcpJournal::settled(const Settlement& settlement) {
  if (ledger != nullptr) ledger->write(settlement, world->incarnation(settlement.with));
}

}  // namespace gv
