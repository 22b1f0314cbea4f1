#include "peer/runtime/tcp_journal.h"

#include <algorithm>
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
  if (record != nullptr) record->recorder().settled(settlement);
}

void TcpJournal::life_begun(Round rounds, Time now) {
  if (record != nullptr) record->recorder().life_begun(rounds, now);
}

void TcpJournal::round_done(RoundDone round) {
  staleness = std::max(staleness, round.staleness);
  queue = std::max(queue, round.queue);
  if (record == nullptr) return;
  record->recorder().round_done(round);
  if (const Verdict wrong = record->write_when_due(round.now); !wrong.empty()) log(wrong);
}

void TcpJournal::life_done(const LifeDone& life) {
  if (record == nullptr) return;
  record->recorder().life_done(life);
  if (const Verdict wrong = record->write(); !wrong.empty()) log(wrong);
}

}  // namespace gv
