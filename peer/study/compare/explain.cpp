#include "peer/study/compare/explain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "peer/study/compare/figures.h"

namespace gv {

std::optional<Explanation> explain(const Contender& a, const Contender& b) {
  const auto mine = summary_of(a, Measure::time);
  const auto theirs = summary_of(b, Measure::time);
  const auto my_rounds = summary_of(a, Measure::rounds);
  const auto their_rounds = summary_of(b, Measure::rounds);
  if (!mine || !theirs || !my_rounds || !their_rounds) return std::nullopt;
  if (mine->mean <= 0 || theirs->mean <= 0 || my_rounds->mean <= 0 || their_rounds->mean <= 0)
    return std::nullopt;
  const double my_round = mine->mean / my_rounds->mean;
  const double their_round = theirs->mean / their_rounds->mean;
  Explanation e;
  e.rounds = their_rounds->mean / my_rounds->mean;
  e.seconds_per_round = their_round / my_round;
  e.round_difference = their_round - my_round;
  e.by_rounds = std::abs(std::log(e.rounds)) > std::abs(std::log(e.seconds_per_round));
  const auto my_states = round_states(a);
  const auto their_states = round_states(b);
  if (!my_states || !their_states) return e;
  e.more.emplace();
  for (std::size_t k = 0; k < e.more->size(); ++k)
    (*e.more)[k] = (*their_states)[k] - (*my_states)[k];
  // A cause points the way of the whole: what went the other way explains nothing.
  const double sign = e.round_difference < 0 ? -1 : 1;
  const auto largest =
      std::ranges::max_element(*e.more, {}, [&](double seconds) { return sign * seconds; });
  if (sign * *largest > 0.05 * std::abs(e.round_difference))
    e.state = static_cast<std::size_t>(largest - e.more->begin());
  return e;
}

std::string to_string(const Explanation& e) {
  const std::string text = fmt::format(
      "{}x the rounds, {}x the seconds of each", digits(e.rounds), digits(e.seconds_per_round));
  if (!e.more || !e.state) return text;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < e.more->size(); ++k) order.push_back(k);
  std::ranges::stable_sort(
      order, std::greater<>(), [&](std::size_t k) { return std::abs((*e.more)[k]); });
  // Where one state takes more and another less, both belong to the answer.
  const double most = std::abs((*e.more)[order[0]]);
  std::string parts;
  for (std::size_t i = 0; i < 2; ++i) {
    const double more = (*e.more)[order[i]];
    if (std::abs(more) < 0.2 * most) break;
    parts += fmt::format("{}{} {} {}",
                         parts.empty() ? "" : ", ",
                         activity_names[order[i]],
                         time_text(std::abs(more)),
                         more > 0 ? "more" : "less");
  }
  return fmt::format("{} ({})", text, parts);
}

}  // namespace gv
