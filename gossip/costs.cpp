#include "gossip/costs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "gossip/costs_state.h"

namespace gv {
namespace {

constexpr std::string_view costs_name = "costs so far";
constexpr std::size_t numbers = activities + 7;
constexpr std::size_t costs_bytes =
    2 * sizeof(std::uint64_t) + costs_name.size() + numbers * sizeof(std::uint64_t);

using Numbers = std::array<std::uint64_t, numbers>;

Numbers numbers_of(const Costs& costs) {
  Numbers all{};
  const auto number = [](Time time) { return static_cast<std::uint64_t>(time.count()); };
  std::ranges::transform(costs.spent.at, all.begin(), number);
  std::uint64_t* rest = all.data() + activities;
  *rest++ = number(costs.spent.hidden_wire);
  *rest++ = costs.sent_bytes;
  *rest++ = costs.model_bytes;
  *rest++ = costs.repeated_bytes;
  *rest++ = costs.samples;
  *rest++ = number(costs.longest_wait);
  *rest++ = costs.passed_over;
  return all;
}

/// Sums of a few of them stay within 64 bits: eight years in nanoseconds, and as many bytes.
bool can_be(const Numbers& all) {
  constexpr std::uint64_t most = std::uint64_t{1} << 58;
  return std::ranges::all_of(all, [](std::uint64_t n) { return n <= most; });
}

bool has_costs(std::span<const std::byte> state) {
  if (state.size() < costs_bytes) return false;
  StateWriter name;
  name.name(costs_name);
  return std::ranges::equal(state.last(costs_bytes).first(name.bytes().size()), name.bytes());
}

}  // namespace

Costs& Costs::operator+=(const Costs& later) {
  spent += later.spent;
  sent_bytes += later.sent_bytes;
  model_bytes += later.model_bytes;
  repeated_bytes += later.repeated_bytes;
  samples += later.samples;
  longest_wait = std::max(longest_wait, later.longest_wait);
  passed_over += later.passed_over;
  return *this;
}

Time Costs::training_time() const {
  return spent.total() - spent[Activity::evaluate] - spent[Activity::checkpoint];
}

Costs costs_of(const Report& report) {
  return {.spent = report.spent,
          .sent_bytes = report.sent_bytes,
          .model_bytes = report.model_bytes,
          .repeated_bytes = report.repeated_bytes,
          .samples = report.samples,
          .longest_wait = report.longest_wait,
          .passed_over = report.passed_over};
}

void add_earlier(Report& report, const Costs& earlier) {
  Costs all = earlier;
  all += costs_of(report);
  report.spent = all.spent;
  report.sent_bytes = all.sent_bytes;
  report.model_bytes = all.model_bytes;
  report.repeated_bytes = all.repeated_bytes;
  report.samples = all.samples;
  report.longest_wait = all.longest_wait;
  report.passed_over = all.passed_over;
}

void save_at_end(StateWriter& state, const Costs& costs) {
  state.name(costs_name);
  state.values(numbers_of(costs));
}

std::span<const std::byte> before_costs(std::span<const std::byte> state) {
  return has_costs(state) ? state.first(state.size() - costs_bytes) : state;
}

Costs costs_at_end(std::span<const std::byte> state) {
  if (!has_costs(state)) return {};
  Numbers all{};
  StateReader in(state.last(costs_bytes));
  in.name(costs_name);
  in.values(all);
  if (!can_be(all)) return {};
  const auto time = [](std::uint64_t n) { return Time{static_cast<std::int64_t>(n)}; };
  Costs costs;
  std::ranges::transform(std::span(all).first(activities), costs.spent.at.begin(), time);
  const std::uint64_t* rest = all.data() + activities;
  costs.spent.hidden_wire = time(*rest++);
  costs.sent_bytes = *rest++;
  costs.model_bytes = *rest++;
  costs.repeated_bytes = *rest++;
  costs.samples = *rest++;
  costs.longest_wait = time(*rest++);
  costs.passed_over = *rest++;
  return costs;
}

}  // namespace gv
