#include "peer/record/life/round_rows.h"

#include <algorithm>

namespace gv {
namespace {

void append(RoundRow& row, const RoundRow& next) {
  row.rounds += next.rounds;
  row.spent += next.spent;
  row.bytes += next.bytes;
  row.staleness = std::max(row.staleness, next.staleness);
  row.queue = std::max(row.queue, next.queue);
}

}  // namespace

RoundRows::RoundRows(std::size_t most) : most_(std::max<std::size_t>(2, most)) {}

void RoundRows::begin(Round rounds, Time now) {
  before_ = {};
  before_.rounds = rounds;
  before_.now = now;
}

/// Rounds that a peer passed over count with the one after them.
void RoundRows::add(const RoundDone& round) {
  RoundRow row{.first = before_.rounds,
               .rounds = round.rounds - std::min(round.rounds, before_.rounds),
               .begin = before_.now,
               .spent = round.spent,
               .bytes = round.sent_bytes - before_.sent_bytes,
               .staleness = round.staleness,
               .queue = round.queue};
  row.spent -= before_.spent;
  before_ = round;
  before_.intervals.clear();
  if (!rows_.empty() && rows_.back().rounds < span_) return append(rows_.back(), row);
  if (rows_.size() == most_) merge_pairs();
  if (!rows_.empty() && rows_.back().rounds < span_) return append(rows_.back(), row);
  rows_.push_back(row);
}

void RoundRows::merge_pairs() {
  span_ *= 2;
  std::vector<RoundRow> merged;
  for (const RoundRow& row : rows_) {
    if (merged.empty() || merged.back().rounds + row.rounds > span_) {
      merged.push_back(row);
    } else {
      append(merged.back(), row);
    }
  }
  rows_ = std::move(merged);
}

}  // namespace gv
