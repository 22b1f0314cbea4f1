#include "peer/runtime/tcp_journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "optim/error_text.h"

namespace gv {

void Attendance::heard(LinkEvent event, PeerId neighbor) {
  switch (event) {
    case LinkEvent::away:
    case LinkEvent::died:
      missing_.insert(neighbor);
      break;
    case LinkEvent::back:
    case LinkEvent::replaced:
      missing_.erase(neighbor);
      break;
    default:
      return;
  }
  somebody_missed_ = true;
  somebody_missing_ = !missing_.empty();
}

bool Attendance::take_missed() {
  const bool missed = somebody_missed_.exchange(false);
  return missed || somebody_missing_;
}

void TcpJournal::store(Round round, std::vector<std::byte> state) {
  if (checkpoints == nullptr) return;
  const std::optional<Round> before = checkpoints->candidate();
  const Verdict wrong = checkpoints->save(round, std::move(state), attendance.take_missed());
  if (!wrong.empty())
    return complain(
        fmt::format("no checkpoint of round {}, the older ones are kept: {}", round, wrong));
  full_ = false;
  const std::optional<Round> now = checkpoints->candidate();
  if (on_candidate && now && now != before) on_candidate(*now);
}

/// A full disk is reported once, since it may stay full for many rounds.
void TcpJournal::complain(const std::string& wrong) {
  if (!is_no_space(wrong)) return log(wrong);
  if (full_.exchange(true)) return;
  on_no_space ? on_no_space(wrong) : log(wrong);
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
  if (const Verdict wrong = record->write_when_due(round.now); !wrong.empty()) complain(wrong);
}

void TcpJournal::life_done(const LifeDone& life) {
  if (record == nullptr) return;
  record->recorder().life_done(life);
  if (const Verdict wrong = record->write(); !wrong.empty()) complain(wrong);
}

}  // namespace gv
