#include "peer/report/time_shares.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

double share(const FleetRecord& record, Activity activity) {
  const double all = in_seconds(record.spent.total());
  return all == 0 ? 0 : in_seconds(record.spent[activity]) / all;
}

/// What would help most where an activity is what costs most, beside the gradients.
constexpr std::array<std::pair<Activity, std::string_view>, 5> remedies{{
    {Activity::late, "waiting for slower peers; try `train.batch: auto`"},
    {Activity::wire, "waiting for the network; try local_steps or a codec"},
    {Activity::mix, "averaging; a larger batch or local_steps need less"},
    {Activity::code, "the codec; where the network is fast, floats need none"},
    {Activity::evaluate, "looking at the models; a longer `evaluate.every` saves it"},
}};

}  // namespace

std::string time_text(const FleetRecord& record) {
  constexpr std::size_t screen = 80;
  std::string text, line = "time       ";
  const std::string indent(line.size(), ' ');
  for (std::size_t a = 0; a < activities; ++a) {
    const auto activity = static_cast<Activity>(a);
    const double part = share(record, activity);
    if (part < 0.005) continue;
    const std::string next = fmt::format("{} {:.0f} %", name_of(activity), 100 * part);
    const bool first = line.size() == indent.size();
    if (!first && line.size() + next.size() + 3 > screen) {
      text += line + ",\n";
      line = indent + next;
    } else {
      line += (first ? "" : ", ") + next;
    }
  }
  return line.size() == indent.size() ? "" : text + line;
}

std::string time_advice(const FleetRecord& record) {
  constexpr double enough = 0.9;
  if (record.spent.total() == Time{0} || share(record, Activity::compute) >= enough) return "";
  const auto& [activity, remedy] = *std::ranges::max_element(
      remedies, {}, [&](const auto& each) { return share(record, each.first); });
  const double part = share(record, activity);
  if (part < (1 - enough) / 2) return "";
  return fmt::format("most       {:.0f} % is {}", 100 * part, remedy);
}

}  // namespace gv
