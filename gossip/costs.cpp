#include "gossip/costs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "gossip/costs_state.h"

namespace gv {
namespace {

constexpr std::string_view costs_name = "costs so far";

constexpr std::size_t single_costs() {
  std::size_t n = 0;
  each_cost([&](auto, auto) { ++n; });
  return n;
}

constexpr std::size_t numbers = activities + 1 + single_costs();
constexpr std::size_t costs_bytes =
    2 * sizeof(std::uint64_t) + costs_name.size() + numbers * sizeof(std::uint64_t);

using Numbers = std::array<std::uint64_t, numbers>;

std::uint64_t number_of(Time time) {
  return static_cast<std::uint64_t>(time.count());
}
std::uint64_t number_of(std::uint64_t count) {
  return count;
}

void set(Time& time, std::uint64_t number) {
  time = Time{static_cast<std::int64_t>(number)};
}
void set(std::uint64_t& count, std::uint64_t number) {
  count = number;
}

/// Keeps the longer of the two longest waits.
void add(Time& longest, Time later) {
  longest = std::max(longest, later);
}
void add(std::uint64_t& all, std::uint64_t later) {
  all += later;
}

Numbers numbers_of(const Costs& costs) {
  Numbers all{};
  auto next = all.begin();
  for (const Time time : costs.spent.at) *next++ = number_of(time);
  *next++ = number_of(costs.spent.hidden_wire);
  each_cost([&](auto, auto member) { *next++ = number_of(costs.*member); });
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
  each_cost([&](auto, auto member) { add(this->*member, later.*member); });
  return *this;
}

void raise(Costs& costs, const Costs& to) {
  for (std::size_t k = 0; k < activities; ++k)
    costs.spent.at.at(k) = std::max(costs.spent.at.at(k), to.spent.at.at(k));
  costs.spent.hidden_wire = std::max(costs.spent.hidden_wire, to.spent.hidden_wire);
  each_cost([&](auto, auto member) { costs.*member = std::max(costs.*member, to.*member); });
}

Time Costs::training_time() const {
  return spent.total() - spent[Activity::evaluate] - spent[Activity::checkpoint];
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
  Costs costs;
  auto next = all.begin();
  for (Time& time : costs.spent.at) set(time, *next++);
  set(costs.spent.hidden_wire, *next++);
  each_cost([&](auto, auto member) { set(costs.*member, *next++); });
  return costs;
}

}  // namespace gv
