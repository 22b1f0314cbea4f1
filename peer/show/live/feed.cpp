#include "peer/show/live/feed.h"

#include <utility>

namespace gv {
namespace {

constexpr std::size_t most_points = 1024;

}  // namespace

Feed::Feed(std::vector<MetricsRow> past) {
  while (past.size() > most_points) thin_out(past, most_points);
  curve_ = std::make_shared<const std::vector<MetricsRow>>(std::move(past));
}

void Feed::put(FleetState state) {
  auto next = std::make_shared<const FleetState>(std::move(state));
  const std::lock_guard lock(mutex_);
  std::swap(state_, next);
}

void Feed::put(const FleetRecord& record) {
  std::vector<MetricsRow> rows = *curve();
  while (!rows.empty() && rows.back().round >= record.round) rows.pop_back();
  rows.push_back(row_of(record));
  thin_out(rows, most_points);
  auto next = std::make_shared<const std::vector<MetricsRow>>(std::move(rows));
  const std::lock_guard lock(mutex_);
  std::swap(curve_, next);
}

std::shared_ptr<const FleetState> Feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<const std::vector<MetricsRow>> Feed::curve() const {
  const std::lock_guard lock(mutex_);
  return curve_;
}

}  // namespace gv
