#include "peer/record/report/time_shares.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

double share(const FleetRecord& record, Activity activity) {
  const double all = in_seconds(record.costs.spent.total());
  return all == 0 ? 0 : in_seconds(record.costs.spent[activity]) / all;
}

std::string less_traffic(const Remedies& remedies) {
  if (remedies.local_steps && remedies.codec) return "try local_steps or a codec";
  if (remedies.local_steps) return "try local_steps";
  return remedies.codec ? "try a codec" : "";
}

std::string remedy_for(const Culprit& culprit, const Remedies& remedies) {
  constexpr double clearly = 1.3;
  if (culprit.kind != Culprit::Kind::peer) return less_traffic(remedies);
  if (culprit.activity == Activity::evaluate) return "try a longer `evaluate.every`";
  const bool slow = culprit.activity == Activity::compute && culprit.slower >= clearly;
  if (slow && remedies.other_stages) return "try `grapevine plan --parallel`";
  return slow && remedies.unequal_work ? "try `train.batch: auto`" : "";
}

/// Waits for somebody who stands out are told with the name, whether or not anything helps; waits
/// of equals for each other are nobody's fault, and nothing helps against them.
std::string waiting_advice(Activity activity,
                           std::span<const Culprit> found,
                           std::span<const std::string> hosts,
                           const Remedies& remedies) {
  const auto with = [](const std::string& what, const std::string& remedy) {
    return remedy.empty() ? what : what + "; " + remedy;
  };
  if (!found.empty())
    return with("waiting, most of it for " + name_of(found.front(), hosts),
                remedy_for(found.front(), remedies));
  const std::string remedy = less_traffic(remedies);
  return activity == Activity::wire && !remedy.empty() ? with("waiting for the network", remedy)
                                                       : "";
}

std::string advice_on(Activity activity,
                      std::span<const Culprit> found,
                      std::span<const std::string> hosts,
                      const Remedies& remedies) {
  switch (activity) {
    case Activity::late:
    case Activity::wire:
      return waiting_advice(activity, found, hosts, remedies);
    case Activity::mix:
      return remedies.local_steps ? "averaging; a larger batch or local_steps need less"
                                  : "averaging; a larger batch needs less";
    case Activity::code:
      return "the codec; a fast network needs none";
    case Activity::evaluate:
      return "evaluating the models; a longer `evaluate.every` needs less";
    default:
      return "";
  }
}

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

std::string time_advice(const FleetRecord& record,
                        std::span<const Culprit> found,
                        std::span<const std::string> hosts,
                        const Remedies& remedies) {
  constexpr double enough = 0.9;
  constexpr std::array told{
      Activity::late, Activity::wire, Activity::mix, Activity::code, Activity::evaluate};
  if (record.costs.spent.total() == Time{0} || share(record, Activity::compute) >= enough)
    return "";
  const Activity most =
      *std::ranges::max_element(told, {}, [&](Activity each) { return share(record, each); });
  const bool waits = most == Activity::late || most == Activity::wire;
  const double part = waits && !found.empty()
                          ? share(record, Activity::late) + share(record, Activity::wire)
                          : share(record, most);
  if (part < (1 - enough) / 2) return "";
  const std::string text = advice_on(most, found, hosts, remedies);
  return text.empty() ? ""
                      : wrapped(fmt::format("hint       {:.0f} % is {}", 100 * part, text), 11);
}

}  // namespace gv
